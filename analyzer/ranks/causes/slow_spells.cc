// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/slow_spells.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "analyzer/ranks/causes/level_changes.h"

namespace traceinject {
namespace {

// Two ranks of a host are slow for one reason if so much of both their spells is at the same time.
constexpr double kSameTime = 0.8;

// A rank's own time over what its peers take, as a share of that.
struct Series {
  std::vector<std::size_t> steps;  // of the job
  std::vector<double> excess;
};

Series SeriesOf(const WorkTable& work, std::size_t rank) {
  Series series;
  for (const std::size_t step : work.regular_steps()) {
    const auto own = work.own_ns(rank, step), usual = work.usual_ns(rank, step);
    if (!own || !usual || *usual <= 0) continue;
    series.steps.push_back(step);
    series.excess.push_back(*own / *usual - 1);
  }
  return series;
}

// Means of the regular steps of a rank.
struct Means {
  double compute_ns = 0, kernels = 0;
  std::array<double, kIdleCauses> idle_ns{};
  double count = 0;

  void Add(const StepFacts& step) {
    compute_ns += static_cast<double>(step.compute_ns + step.exposed_copy_ns);
    kernels += static_cast<double>(step.kernels);
    for (std::size_t i = 0; i < kIdleCauses; ++i)
      idle_ns[i] += static_cast<double>(step.idle_ns[i]);
    ++count;
  }
  void Divide() {
    if (count == 0) return;
    compute_ns /= count;
    kernels /= count;
    for (double& idle : idle_ns) idle /= count;
  }
};

// What the rank does longer in the spell than otherwise.
void Explain(const Job& job, const JobSteps& steps, const WorkTable& work, SlowSpell& spell) {
  Means inside, outside;
  for (const std::size_t step : work.regular_steps()) {
    const StepFacts* const facts = steps.Find(job, spell.slowest, step);
    if (facts == nullptr) continue;
    (step >= spell.first && step <= spell.last ? inside : outside).Add(*facts);
  }
  inside.Divide();
  outside.Divide();
  double idle = 0, most = 0;
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    // It waits less for others, the later it is itself.
    if (static_cast<IdleCause>(i) == IdleCause::kCommunication) continue;
    const double longer = inside.idle_ns[i] - outside.idle_ns[i];
    idle += longer;
    if (longer <= most) continue;
    most = longer;
    spell.idle_cause = static_cast<IdleCause>(i);
  }
  if (inside.compute_ns - outside.compute_ns <= idle) {
    spell.slowness = Slowness::kHost;
    return;
  }
  const double more = outside.kernels > 0 ? inside.kernels / outside.kernels - 1 : 0,
               longer = outside.compute_ns > 0 ? inside.compute_ns / outside.compute_ns - 1 : 0;
  spell.slowness = 2 * more >= longer ? Slowness::kMoreWork : Slowness::kSlowerGpu;
}

std::vector<SlowSpell> SpellsOf(const WorkTable& work, std::size_t rank) {
  const Series series = SeriesOf(work, rank);
  std::vector<SlowSpell> spells;
  for (const RaisedSpell& raised : FindRaisedSpells(series.excess)) {
    SlowSpell& spell = spells.emplace_back();
    spell.ranks = {rank};
    spell.slowest = rank;
    spell.first = series.steps[raised.from];
    spell.last = series.steps[raised.to - 1];
    spell.steps = raised.to - raised.from;
    spell.change = raised.change;
    double usual = 0;
    for (std::size_t i = raised.from; i < raised.to; ++i)
      usual += work.usual_ns(rank, series.steps[i]).value_or(0);
    spell.excess_ns = raised.change * usual / static_cast<double>(spell.steps);
    if (spell.excess_ns < double{kMinExcessNs}) spells.pop_back();
  }
  return spells;
}

bool AreOne(const Job& job, const SlowSpell& a, const SlowSpell& b) {
  if (!AreOnOneHost(job.ranks[a.slowest], job.ranks[b.slowest])) return false;
  const std::size_t from = std::max(a.first, b.first), to = std::min(a.last, b.last) + 1;
  const std::size_t all = std::max(a.last, b.last) + 1 - std::min(a.first, b.first);
  return to > from && static_cast<double>(to - from) >= kSameTime * static_cast<double>(all);
}

// The spell of the slowest rank stands for those of the others.
void Join(SlowSpell one, SlowSpell& to) {
  if (one.change > to.change) std::swap(one, to);
  to.ranks.insert(to.ranks.end(), one.ranks.begin(), one.ranks.end());
  std::sort(to.ranks.begin(), to.ranks.end());
}

// Steps of a spell that the replay gives lengths of.
double PlayedSteps(const SlowSpell& spell, const WorkTable& work, const JobReplay& replay) {
  const std::vector<std::size_t>& regular = work.regular_steps();
  return static_cast<double>(std::count_if(regular.begin(), regular.end(), [&](std::size_t step) {
    return step >= std::max(spell.first, replay.first_step()) && step <= spell.last &&
           step < replay.end_step();
  }));
}

void PlayWithout(const WorkTable& work, const JobReplay& replay, SlowSpell& spell) {
  const double played = replay.empty() ? 0 : PlayedSteps(spell, work, replay);
  if (played == 0) return;
  const SpellSteps only({spell}, work.ranks());
  JobChange change;
  change.own = [&](std::size_t rank, std::size_t step) {
    if (step < spell.first || step > spell.last) return 1.0;
    return WithoutSpells(work, only, rank, step);
  };
  spell.saving = SavingOf(replay, change);
  spell.saved_ns = spell.saving->ns * static_cast<double>(replay.end_step() - replay.first_step());
  spell.saved_step_ns = spell.saved_ns / played;
}

double MeanStep(const JobReplay& replay) {
  const std::vector<double>& lengths = replay.unchanged();
  return lengths.empty() ? 0
                         : std::accumulate(lengths.begin(), lengths.end(), 0.0) /
                               static_cast<double>(lengths.size());
}

}  // namespace

SpellSteps::SpellSteps(const std::vector<SlowSpell>& spells, std::size_t ranks)
    : of_rank_(ranks), empty_(spells.empty()) {
  for (const SlowSpell& spell : spells) {
    for (const std::size_t rank : spell.ranks) of_rank_[rank].emplace_back(spell.first, spell.last);
  }
}

bool SpellSteps::Has(std::size_t rank, std::size_t step) const {
  return std::any_of(of_rank_[rank].begin(), of_rank_[rank].end(),
                     [&](const auto& one) { return step >= one.first && step <= one.second; });
}

double WithoutSpells(const WorkTable& work, const SpellSteps& spells, std::size_t rank,
                     std::size_t step) {
  const auto own = work.own_ns(rank, step), usual = work.usual_ns(rank, step);
  if (!own || !usual) return 1;
  return work.Factor(rank, step, spells.Has(rank, step) ? std::min(*own, *usual) : *own);
}

std::vector<SlowSpell> FindSlowSpells(const Job& job, const JobSteps& steps, const WorkTable& work,
                                      const JobReplay& replay) {
  std::vector<SlowSpell> spells;
  for (std::size_t r = 0; r < work.ranks(); ++r) {
    for (SlowSpell& one : SpellsOf(work, r)) {
      const auto like = std::find_if(spells.begin(), spells.end(), [&](const SlowSpell& known) {
        return AreOne(job, known, one);
      });
      if (like == spells.end()) {
        spells.push_back(std::move(one));
      } else {
        Join(std::move(one), *like);
      }
    }
  }
  const auto by_excess = [](const SlowSpell& a, const SlowSpell& b) {
    return a.excess_ns * static_cast<double>(a.steps) > b.excess_ns * static_cast<double>(b.steps);
  };
  std::stable_sort(spells.begin(), spells.end(), by_excess);
  for (std::size_t i = 0; i < std::min(spells.size(), kMaxPlayedSpells); ++i)
    PlayWithout(work, replay, spells[i]);
  const double step_ns = MeanStep(replay);
  std::erase_if(spells, [&](const SlowSpell& spell) {
    return spell.saving && spell.saved_step_ns < kMinSpellSaving * step_ns;
  });
  for (SlowSpell& spell : spells) Explain(job, steps, work, spell);
  std::stable_sort(spells.begin(), spells.end(),
                   [](const SlowSpell& a, const SlowSpell& b) { return a.saved_ns > b.saved_ns; });
  return spells;
}

}  // namespace traceinject
