// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

double Ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Operations(std::int64_t count) {
  return fmt::format("{} GPU operation{}", FormatCount(count), count == 1 ? "" : "s");
}

// Judges one process.
class Judge {
 public:
  Judge(const Run& run, std::size_t rank, TrustJudgement& judgement)
      : rank_(rank),
        origin_(RunOrigin(run).value_or(0)),
        trust_(run.ranks[rank].trust),
        judgement_(judgement) {}

  void Find(const std::vector<TrustedDevice>& devices) {
    SumUp(devices);
    ClockSteps();
    Durations();
    Links();
    Losses();
    Limits();
  }

 private:
  void SumUp(const std::vector<TrustedDevice>& devices) {
    for (const TrustedDevice& device : devices) {
      if (device.rank != rank_) continue;
      all_ += device.partition;
      join_ += device.join;
    }
  }
  // Operations whose launch is not known though it was to be.
  std::int64_t Unlinked() const { return join_.operations - join_.joined; }

  void Add(std::string name, std::int64_t count, std::string text,
           std::optional<double> share = std::nullopt,
           std::optional<TimeNs> time_ns = std::nullopt) {
    judgement_.findings.push_back({rank_, std::move(name), count, share, time_ns, std::move(text)});
  }
  void Withhold(Figures figures, std::string reason) {
    if (judgement_.Withheld(rank_, figures) == nullptr)
      judgement_.withheld.push_back({rank_, figures, std::move(reason)});
  }

  void ClockSteps() {
    for (const ClockStep& step : trust_.clock_steps) {
      std::string text =
          fmt::format("the system clock was set {} by {} while recording; ",
                      step.by_ns > 0 ? "forwards" : "back", FormatTime(std::abs(step.by_ns)));
      if (step.repaired) {
        text +=
            fmt::format("all times after {} were shifted back", FormatTime(step.at_ns - origin_));
      } else {
        // The notes of the clocks around the step are about a second apart.
        text += fmt::format(
            "records from {} to about a second after {} could not be placed before or after it, so "
            "figures that need times are withheld",
            FormatTime(step.at_ns - std::abs(step.by_ns) - origin_),
            FormatTime(step.at_ns - origin_));
        for (const Figures figures : {Figures::kTimes, Figures::kPartition, Figures::kSteps,
                                      Figures::kGapCauses, Figures::kLinks})
          Withhold(figures,
                   "the system clock was set while recording, and times before and after cannot be "
                   "separated");
      }
      Add("clock_step", 1, std::move(text), std::nullopt, step.by_ns);
    }
  }

  void Durations() {
    if (trust_.outside > 0) {
      Add("outside", trust_.outside,
          fmt::format("{} lay before recording began or after it ended, and {} left out",
                      Operations(trust_.outside), trust_.outside == 1 ? "was" : "were"),
          Ratio(trust_.outside, trust_.operations + trust_.outside));
    }
    if (trust_.corrupt_durations > 0) {
      Add("corrupt_durations", trust_.corrupt_durations,
          fmt::format("impossible durations of {}: they claimed {} more than such operations "
                      "usually take, and the usual duration is used instead",
                      Operations(trust_.corrupt_durations), FormatTime(trust_.corrupt_ns)),
          Ratio(trust_.corrupt_durations, trust_.operations), trust_.corrupt_ns);
    }
    const double overlaps = Ratio(trust_.overlaps, trust_.operations);
    if (overlaps > kFewOverlaps) {
      Add("overlaps", trust_.overlaps,
          fmt::format("{} ({}) ended after the next operation of their stream, which is "
                      "impossible; which of the two is wrong is not known",
                      Operations(trust_.overlaps), Percent(overlaps, 2)),
          overlaps);
    }
  }

  void Links() {
    if (trust_.early_starts > 0) {
      const double share = Ratio(trust_.early_starts, trust_.operations);
      Add("early_starts", trust_.early_starts,
          fmt::format("{} ({}) started before the call that launched them",
                      Operations(trust_.early_starts), Percent(share, 2)),
          share);
      if (share > kMaxEarlyStarts)
        Withhold(
            Figures::kGapCauses,
            fmt::format("{} of the operations start before they were launched", Percent(share, 2)));
    }
    if (trust_.wrong_links == 0) return;
    const double share = Ratio(trust_.wrong_links, trust_.links);
    std::string text = fmt::format(
        "{} of {} correlation ids link GPU operations to calls that cannot have launched them, by "
        "order or kind",
        FormatCount(trust_.wrong_links), FormatCount(trust_.links));
    text +=
        trust_.links_dropped ? ": the ids are wrong, and all were ignored" : "; these were ignored";
    Add("wrong_links", trust_.wrong_links, std::move(text), share);
    if (!trust_.links_dropped) return;
    const std::string reason = "the correlation ids are wrong, so no launch is known";
    Withhold(Figures::kGapCauses, reason);
    Withhold(Figures::kLinks, reason);
    Withhold(Figures::kSteps, reason);
  }

  void Losses() {
    if (Unlinked() > 0 && trust_.links > 0 && !trust_.links_dropped) {
      const double share = Ratio(Unlinked(), join_.operations);
      Add("without_call", Unlinked(),
          fmt::format("{} ({}) have no record of the call that launched them{}",
                      Operations(Unlinked()), Percent(share, 2),
                      trust_.wrong_links > 0 ? ", or a wrong one" : ""),
          share);
    }
    if (trust_.lost_operations > 0) {
      Add("lost_operations", trust_.lost_operations,
          fmt::format("{} of {} launches have no record of what they launched: counts and sums are "
                      "too small by about {}, for rare operations by more or by nothing; the "
                      "longest of a kind may be lost",
                      FormatCount(trust_.lost_operations), FormatCount(trust_.launches),
                      Percent(trust_.lost_share(), 2)),
          trust_.lost_share());
    }
    if (all_.unrecorded_ns == 0) return;
    std::string parts;
    const auto part = [&](const char* name, TimeNs ns) {
      if (ns == 0) return;
      parts += fmt::format("{}{} by up to {}", parts.empty() ? "" : ", ", name,
                           Percent(Ratio(all_.unrecorded_ns, ns), 2));
    };
    part("compute", all_.compute_ns);
    part("exposed communication", all_.exposed_communication_ns);
    part("exposed copies", all_.exposed_copy_ns);
    part("idle", all_.idle_ns);
    Add("unrecorded", 1,
        fmt::format("for {} it is not known what ran; this time is not included in the other "
                    "parts, which may be larger (exposed copies may be smaller): {}",
                    FormatTime(all_.unrecorded_ns), parts),
        Ratio(all_.unrecorded_ns, all_.wall_ns), all_.unrecorded_ns);
  }

  void Limits() {
    const double unrecorded = Ratio(all_.unrecorded_ns + trust_.replaced_ns, all_.wall_ns);
    if (unrecorded > kMaxUnrecorded)
      Withhold(Figures::kPartition,
               fmt::format("for {} of the time it is not known what ran", Percent(unrecorded, 2)));
    if (trust_.lost_share() > kMaxLostOperations)
      Withhold(Figures::kPartition,
               fmt::format("{} of the operations were lost", Percent(trust_.lost_share(), 2)));
    if (trust_.links == 0) return;
    const double unlinked = Ratio(Unlinked(), join_.operations);
    const double hidden = unlinked + 2 * trust_.lost_share();
    if (hidden > kMaxHiddenCauses)
      Withhold(Figures::kGapCauses,
               fmt::format(
                   "the cause of {} of the gaps cannot be determined because records are missing",
                   Percent(hidden, 2)));
    const double broken = unlinked + trust_.lost_share();
    if (broken > kMaxBrokenLinks)
      Withhold(Figures::kLinks, fmt::format("{} of the operations or their launches are missing",
                                            Percent(broken, 2)));
  }

  const std::size_t rank_;
  const TimeNs origin_;
  const Trust& trust_;
  TrustJudgement& judgement_;
  Partition all_;  // of its devices' windows
  JoinRate join_;  // likewise
};

}  // namespace

std::string_view FiguresName(Figures figures) {
  switch (figures) {
    case Figures::kTimes:
      return "times";
    case Figures::kPartition:
      return "partition";
    case Figures::kSteps:
      return "steps";
    case Figures::kGapCauses:
      return "gap_causes";
    case Figures::kLinks:
      break;
  }
  return "links";
}

const WithheldFigures* TrustJudgement::Withheld(std::size_t rank, Figures figures) const {
  const auto found = std::find_if(withheld.begin(), withheld.end(), [&](const auto& each) {
    return each.rank == rank && each.figures == figures;
  });
  return found == withheld.end() ? nullptr : &*found;
}

bool TrustJudgement::WithholdsSteps(std::size_t rank) const {
  return Withheld(rank, Figures::kSteps) != nullptr || Withheld(rank, Figures::kTimes) != nullptr;
}

std::string TrustJudgement::Grounds() const {
  for (const WithheldFigures& each : withheld) {
    if (each.figures != Figures::kLinks) return each.reason;
  }
  return "";
}

TrustJudgement JudgeTrust(const Run& run, const std::vector<TrustedDevice>& devices) {
  TrustJudgement judgement;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank)
    Judge(run, rank, judgement).Find(devices);
  return judgement;
}

}  // namespace traceinject
