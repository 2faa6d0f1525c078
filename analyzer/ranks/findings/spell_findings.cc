// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/spell_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/common/text.h"
#include "analyzer/ranks/findings/finding_text.h"
#include "analyzer/ranks/match/rank_names.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxListed = 8;  // of the spells that have no finding of their own

// "rank 5 (node000, GPU 5) was", "The whole host node000 (ranks 0-7) was", "ranks 2-3 (node000)
// were".
std::string WhoWas(const Job& job, const SlowSpell& spell) {
  const RankSummary& slowest = job.ranks[spell.slowest];
  const std::string names = RankNames(job, spell.ranks);
  if (spell.ranks.size() == 1) return fmt::format("{} ({}) was", names, PlaceText(slowest));
  const auto of_host =
      std::count_if(job.ranks.begin(), job.ranks.end(),
                    [&](const RankSummary& rank) { return rank.host == slowest.host; });
  if (static_cast<std::size_t>(of_host) == spell.ranks.size())
    return fmt::format("The whole host {} ({}) was", slowest.host, names);
  return fmt::format("{} ({}) were", names, slowest.host);
}

// [start of the first step, end of the last) on the clock of the job; empty where it is not known.
Interval TimeOf(const SpellTimes& times, const SlowSpell& spell) {
  const ClockFit& fit = times.clocks.ranks[spell.slowest];
  const StepFacts* const first = times.steps.Find(times.job, spell.slowest, spell.first);
  const StepFacts* const last = times.steps.Find(times.job, spell.slowest, spell.last);
  if (!fit.aligned || first == nullptr || last == nullptr) return {};
  return {ToJob(fit, first->time.start), ToJob(fit, last->time.end)};
}

// "from step 120 to 179 (12.310 s to 18.520 s)"
std::string When(const SpellTimes& times, const SlowSpell& spell) {
  std::string text = fmt::format("from step {} to {}", spell.first, spell.last);
  const Interval time = TimeOf(times, spell);
  if (time.end > time.start)
    text += fmt::format(" ({:.3f} s to {:.3f} s)", 1e-9 * static_cast<double>(time.start),
                        1e-9 * static_cast<double>(time.end));
  return text;
}

const char* DescribeReason(const SlowSpell& spell, proto::RankFinding& to) {
  switch (spell.slowness) {
    case Slowness::kSlowerGpu:
      to.set_reason("slower_gpu");
      AddGpuLevers(to);
      return "kernels took longer";
    case Slowness::kMoreWork:
      to.set_reason("more_work");
      to.add_levers(
          "check what these steps do: batch and sequence sizes, evaluation, other branches");
      return "more kernels ran";
    case Slowness::kHost:
      to.set_reason("host");
      to.add_evidence(fmt::format("its GPU was idle longer than usual, mostly: {}",
                                  IdleCauseName(spell.idle_cause)));
      AddHostLevers(spell.idle_cause, to);
      return "the host was slower";
  }
  return "";
}

proto::RankFinding Describe(const SpellTimes& times, const SlowSpell& spell) {
  proto::RankFinding to;
  to.set_name("slow_spell");
  const char* const why = DescribeReason(spell, to);
  std::string text = fmt::format("{} {:.0f} % slower than usual {}: {}", WhoWas(times.job, spell),
                                 100 * spell.change, When(times, spell), why);
  if (spell.saving) {
    text += fmt::format(
        "; without this, each of these {} steps would have taken {} less ({}), and the run {} "
        "({}).",
        spell.steps, MeanTime(spell.saved_step_ns), ShareText(spell.saved_step_ns, times.step_ns),
        MeanTime(spell.saved_ns), ShareText(spell.saving->ns, times.step_ns));
    SetSaving(*spell.saving, to);
  } else {
    text += fmt::format("; the loss in these {} steps was not simulated.", spell.steps);
  }
  to.set_text(text);
  to.set_from_step(static_cast<std::int64_t>(spell.first));
  to.set_to_step(static_cast<std::int64_t>(spell.last));
  if (const Interval time = TimeOf(times, spell); time.end > time.start) {
    to.set_from_ns(time.start);
    to.set_to_ns(time.end);
  }
  AddRows(spell.ranks, to);
  return to;
}

proto::RankFinding DescribeMore(const SpellTimes& times, const std::vector<SlowSpell>& spells) {
  proto::RankFinding to;
  to.set_name("slow_spell");
  std::string list;
  for (std::size_t i = kMaxSpellFindings; i < spells.size(); ++i) {
    AddRows(spells[i].ranks, to);
    if (i >= kMaxSpellFindings + kMaxListed) continue;
    list += fmt::format("{}{} (steps {} to {}, {:.0f} %)", list.empty() ? "" : ", ",
                        RankNames(times.job, spells[i].ranks), spells[i].first, spells[i].last,
                        100 * spells[i].change);
  }
  const std::size_t more = spells.size() - kMaxSpellFindings;
  if (more > kMaxListed) list += ", ...";
  to.set_text(fmt::format("And {} more for part of the run: {}.", more, list));
  return to;
}

}  // namespace

std::vector<proto::RankFinding> DescribeSlowSpells(const SpellTimes& times,
                                                   const std::vector<SlowSpell>& spells) {
  std::vector<proto::RankFinding> findings;
  for (std::size_t i = 0; i < std::min(spells.size(), kMaxSpellFindings); ++i)
    findings.push_back(Describe(times, spells[i]));
  if (spells.size() > kMaxSpellFindings) findings.push_back(DescribeMore(times, spells));
  return findings;
}

void TellWhen(const SpellTimes& times, const Straggler& straggler, std::vector<SlowSpell>& spells,
              proto::RankFinding& to) {
  std::map<std::size_t, std::size_t> slow_steps;  // by summary
  for (const SlowSpell& spell : spells) {
    for (const std::size_t rank : spell.ranks) slow_steps[rank] += spell.steps;
  }
  std::erase_if(spells, [&](const SlowSpell& spell) {
    const bool explains = std::all_of(spell.ranks.begin(), spell.ranks.end(), [&](std::size_t r) {
      return 2 * slow_steps[r] >= times.steps.count_regular() &&
             std::count(straggler.summaries.begin(), straggler.summaries.end(), r) > 0;
    });
    if (explains)
      to.add_evidence(fmt::format("it was {:.0f} % slower than usual {}", 100 * spell.change,
                                  When(times, spell)));
    return explains;
  });
}

}  // namespace traceinject
