// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/run_time.h"

#include <algorithm>

namespace traceinject {
namespace {

constexpr std::array<TimeUse, 4> kBetween = {TimeUse::kEvaluation, TimeUse::kCheckpoint,
                                             TimeUse::kEpochEnd, TimeUse::kOther};

// Whether an iteration over a loader begins in the step: its first batch is waited for, or workers
// start. O(log waits + waits in it + workers).
bool BeginsIteration(const Rank& rank, const Interval& time) {
  const DataWaits& waits = rank.data_waits;
  const auto first = std::lower_bound(waits.start.begin(), waits.start.end(), time.start);
  for (auto row = static_cast<std::size_t>(first - waits.start.begin());
       row < waits.size() && waits.start[row] < time.end; ++row) {
    if (waits.batch[row] == 0) return true;
  }
  return std::any_of(rank.workers.begin(), rank.workers.end(), [&](const Worker& worker) {
    return worker.start >= time.start && worker.start < time.end;
  });
}

class Divider {
 public:
  Divider(const Rank& rank, const Steps& steps, const std::vector<StepKind>& kinds,
          const GapCauses& causes)
      : rank_(rank),
        steps_(steps),
        kinds_(kinds),
        causes_(causes),
        usual_ns_(*steps.regular_median_ns()),
        irregular_recur_(IrregularRecur(kinds, steps)) {
    MeasureRegular();
  }

  RunTime Divide(Interval recorded) {
    RunTime found;
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) AddStep(i, found);
    const TimeNs begin = steps_.start_ns, end = steps_.steps.back().time.end;
    Of(TimeUse::kStartUp, found).ns += Recorded({std::min(recorded.start, begin), begin});
    Of(TimeUse::kShutdown, found).ns += Recorded({end, std::max(recorded.end, end)});
    for (const UsedTime& use : found.uses) found.recorded_ns += use.ns;
    return found;
  }

 private:
  static UsedTime& Of(TimeUse use, RunTime& found) {
    return found.uses[static_cast<std::size_t>(use)];
  }

  void MeasureRegular() {
    const auto count = static_cast<TimeNs>(std::max<std::size_t>(1, steps_.count_regular()));
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
      if (!steps_.steps[i].regular()) continue;
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        regular_idle_[cause] += causes_.steps[i].idle_ns[cause];
    }
    for (TimeNs& idle : regular_idle_) idle /= count;
  }

  TimeUse UseOf(std::size_t i) const {
    switch (kinds_[i]) {
      case StepKind::kWarmUp:
        return TimeUse::kStartUp;
      case StepKind::kEvaluation:
        return TimeUse::kEvaluation;
      case StepKind::kCheckpoint:
        return TimeUse::kCheckpoint;
      case StepKind::kIrregular:
        break;
      case StepKind::kRegular:
        return TimeUse::kTraining;
    }
    if (steps_.steps[i].length_ns() <= usual_ns_) return TimeUse::kTraining;
    if (BeginsIteration(rank_, steps_.steps[i].time)) return TimeUse::kEpochEnd;
    return irregular_recur_ ? TimeUse::kTraining : TimeUse::kOther;
  }

  void AddStep(std::size_t i, RunTime& found) {
    const TimeUse use = UseOf(i);
    const TimeNs length = Recorded(steps_.steps[i].time);
    // A step with an evaluation in it trains, too. One that only evaluates is shorter, or as long.
    const bool between = std::find(kBetween.begin(), kBetween.end(), use) != kBetween.end();
    const TimeNs training = between ? std::min(length, usual_ns_) : 0;
    const TimeNs extra = between ? length - training : 0;
    Of(TimeUse::kTraining, found).ns += training;
    UsedTime& used = Of(use, found);
    used.ns += length - training;
    ++used.steps;
    for (std::size_t cause = 0; between && cause < kIdleCauses; ++cause)
      used.idle_ns[cause] +=
          std::max<TimeNs>(0, causes_.steps[i].idle_ns[cause] - regular_idle_[cause]);
    found.of_steps.push_back(use);
    found.extra_ns.push_back(extra);
  }

  // Without what a plan left out.
  TimeNs Recorded(Interval time) const {
    TimeNs length = std::max<TimeNs>(0, time.end - time.start);
    for (const CaptureGap& gap : rank_.gaps) {
      if (gap.planned())
        length -=
            std::max<TimeNs>(0, std::min(gap.end, time.end) - std::max(gap.start, time.start));
    }
    return std::max<TimeNs>(0, length);
  }

  const Rank& rank_;
  const Steps& steps_;
  const std::vector<StepKind>& kinds_;
  const GapCauses& causes_;
  const TimeNs usual_ns_;
  const bool irregular_recur_;
  std::array<TimeNs, kIdleCauses> regular_idle_{};  // of a mean regular step
};

}  // namespace

std::string_view TimeUseName(TimeUse use) {
  static constexpr std::array<std::string_view, kTimeUses> kNames = {
      "start-up", "training steps", "evaluation", "checkpoints", "epoch ends", "other", "shutdown"};
  return kNames[static_cast<std::size_t>(use)];
}

double RunTime::goodput() const {
  return recorded_ns <= 0
             ? 0
             : static_cast<double>(of(TimeUse::kTraining).ns) / static_cast<double>(recorded_ns);
}

TimeNs RunTime::between_ns() const {
  TimeNs between = 0;
  for (const TimeUse use : kBetween) between += of(use).ns;
  return between;
}

double RunTime::between_share() const {
  const TimeNs between = between_ns(), all = between + of(TimeUse::kTraining).ns;
  return all <= 0 ? 0 : static_cast<double>(between) / static_cast<double>(all);
}

TimeUse RunTime::largest_between() const {
  return *std::max_element(kBetween.begin(), kBetween.end(),
                           [&](TimeUse a, TimeUse b) { return of(a).ns < of(b).ns; });
}

RunTime DivideRunTime(const Rank& rank, const Steps& steps, const std::vector<StepKind>& kinds,
                      const GapCauses& causes, Interval recorded) {
  if (steps.source == StepSource::kWindow || steps.count_regular() == 0 ||
      kinds.size() != steps.steps.size() || causes.steps.size() != steps.steps.size()) {
    RunTime all;
    all.recorded_ns = recorded.end - recorded.start;
    all.uses[static_cast<std::size_t>(TimeUse::kOther)].ns = all.recorded_ns;
    return all;
  }
  return Divider(rank, steps, kinds, causes).Divide(recorded);
}

}  // namespace traceinject
