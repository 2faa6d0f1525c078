// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/savings/between_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/mean.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/places/seen_code.h"
#include "analyzer/metrics/what_if/bootstrap.h"

namespace traceinject {
namespace {

// A cause with less of the time is not what it went into.
constexpr double kLargestPart = 0.2;

struct UseLabel {
  TimeUse use;
  std::string_view label, words;
};
constexpr UseLabel kUseLabels[] = {
    {TimeUse::kEvaluation, kEvaluationLabel, "evaluation"},
    {TimeUse::kCheckpoint, "checkpoint", "checkpoints"},
    {TimeUse::kEpochEnd, kEpochEndLabel, "ends of epochs"},
    {TimeUse::kOther, "other", "steps far from the median, for reasons that are not known"},
};

const UseLabel& LabelOfUse(TimeUse use) {
  return *std::find_if(std::begin(kUseLabels), std::end(kUseLabels),
                       [use](const UseLabel& one) { return one.use == use; });
}

std::string_view Words(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataWait:
      return "waiting for data";
    case IdleCause::kSync:
    case IdleCause::kDrainedBySync:
      return "synchronization";
    case IdleCause::kCheckpoint:
      return "saving";
    case IdleCause::kLaunch:
    case IdleCause::kPython:
      return "late launches";
    case IdleCause::kHostWait:
      return "unrecorded host activity";
    default:
      return IdleCauseName(cause);
  }
}

class BetweenJudge {
 public:
  explicit BetweenJudge(const DeviceFigures& judged)
      : judged_(judged),
        time_(*judged.run_time),
        use_(time_.largest_between()),
        used_(time_.of(use_)) {}

  BetweenSteps Judge() const {
    BetweenSteps found;
    found.label = LabelOfUse(use_).label;
    found.ns = used_.ns;
    found.times = used_.steps;
    const TimeNs training = time_.of(TimeUse::kTraining).ns + time_.between_ns();
    found.share = static_cast<double>(used_.ns) / static_cast<double>(training);
    found.all_share = time_.between_share();
    found.place = Place();
    found.text = Text(found);
    found.saving = Saving(found);
    return found;
  }

 private:
  std::string Text(const BetweenSteps& found) const {
    std::string text =
        fmt::format("{} of the time is {}: {} {}", Percent(found.share), LabelOfUse(use_).words,
                    FormatTime(used_.ns / std::max<std::int64_t>(1, used_.steps)), Rhythm());
    const auto most = std::max_element(used_.idle_ns.begin(), used_.idle_ns.end());
    const double part =
        static_cast<double>(*most) / static_cast<double>(std::max<TimeNs>(1, used_.ns));
    if (part >= kLargestPart)
      text += fmt::format(", of which {} {}",
                          Words(static_cast<IdleCause>(most - used_.idle_ns.begin())),
                          Percent(std::min(1.0, part)));
    if (!found.place.empty()) text += ", mostly at " + found.place;
    return text;
  }

  std::string Rhythm() const {
    if (used_.steps <= 1) return "once";
    const auto first = std::find(time_.of_steps.begin(), time_.of_steps.end(), use_);
    const auto last = std::find(time_.of_steps.rbegin(), time_.of_steps.rend(), use_).base() - 1;
    const auto every =
        std::llround(static_cast<double>(last - first) / static_cast<double>(used_.steps - 1));
    return every <= 1 ? "each step" : fmt::format("every {} steps", every);
  }

  // What the program did in these steps and not in regular ones.
  std::string Place() const {
    const SeenCode seen(*judged_.rank, judged_.timeline.feeders);
    if (seen.empty()) return "";
    Intervals times, regular;
    std::size_t count = 0;
    for (std::size_t i = 0; i < time_.of_steps.size(); ++i) {
      const Step& step = judged_.steps.steps[i];
      if (time_.of_steps[i] == use_) times.push_back(step.time);
      if (!step.regular()) continue;
      regular.push_back(step.time);
      ++count;
    }
    const double weight = static_cast<double>(used_.steps) / static_cast<double>(count);
    return PlaceText(*judged_.rank,
                     seen.MostIn(Merge(std::move(times)), Merge(std::move(regular)), weight));
  }

  // As a checkpoint's, spread over all steps after warm-up.
  CauseSaving Saving(const BetweenSteps& found) const {
    std::vector<double> costs, lengths;
    for (std::size_t i = 0; i < time_.of_steps.size(); ++i) {
      const Step& step = judged_.steps.steps[i];
      if (step.warm_up) continue;
      costs.push_back(time_.of_steps[i] == use_ ? static_cast<double>(time_.extra_ns[i]) : 0);
      lengths.push_back(static_cast<double>(step.length_ns()));
    }
    CauseSaving saving;
    saving.label = found.label;
    saving.saved_ns = Mean(costs);
    saving.step_ns = Mean(lengths);
    saving.resampled = ResampledSparseMeans(costs);
    const Bounds bounds = Middle95(saving.resampled);
    saving.low_ns = std::min(bounds.low, saving.saved_ns);
    saving.high_ns = std::max(bounds.high, saving.saved_ns);
    return saving;
  }

  const DeviceFigures& judged_;
  const RunTime& time_;
  const TimeUse use_;
  const UsedTime& used_;
};

}  // namespace

std::optional<BetweenSteps> JudgeBetween(const DeviceFigures& judged) {
  if (!judged.run_time || judged.run_time->between_share() <= kBetweenShare) return std::nullopt;
  return BetweenJudge(judged).Judge();
}

}  // namespace traceinject
