// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/metrics/steps/graph_steps.h"
#include "analyzer/metrics/steps/structure_steps.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/kept_part.h"

namespace traceinject {
namespace {

// 1.4826 MAD estimates the standard deviation of normal noise.
constexpr double kIrregularMads = 5 * 1.4826;
constexpr double kIrregularShare = 0.1;

TimeNs Median(std::vector<TimeNs> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const TimeNs below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

// What a program says of its steps is as good as certain: it may still say so of something else.
constexpr double kMarkConfidence = 1, kRangeConfidence = 0.99;

struct HostCuts {
  StepSource source = StepSource::kWindow;
  std::string pattern;
  double confidence = 0;
  std::vector<TimeNs> times;
};

HostCuts CutsOf(std::optional<StructureSteps> found) {
  if (!found) return {};
  return {StepSource::kStructure, "", found->confidence, std::move(found->cuts)};
}

HostCuts CutsOfStructure(const Rank& rank, const GpuOps& ops) {
  HostCuts cuts = CutsOf(FindStructureSteps(rank, ops));
  return cuts.times.empty() ? CutsOf(FindGraphSteps(rank, ops)) : cuts;
}

// Whether the program trained between marks for most of the time: not where it marks some steps
// and replays the others from a CUDA graph.
bool MarkMostOfTheTime(const std::vector<TimeNs>& marks, Interval gpu_span) {
  std::vector<TimeNs> lengths;
  for (std::size_t i = 1; i < marks.size(); ++i) lengths.push_back(marks[i] - marks[i - 1]);
  const TimeNs usual = 2 * Median(lengths);
  TimeNs marked = 0;
  for (const TimeNs length : lengths) marked += length <= usual ? length : 0;
  return marked >= (std::max(marks.back(), gpu_span.end) - marks.front()) / 2;
}

HostCuts CutsOfRanges(StepRanges found) {
  HostCuts cuts{StepSource::kRanges, std::move(found.pattern), kRangeConfidence, {}};
  std::sort(found.ranges.begin(), found.ranges.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (const Interval& range : found.ranges) cuts.times.push_back(range.start);
  cuts.times.push_back(std::max(found.ranges.back().end, found.ranges.back().start));
  return cuts;
}

// Whether one or two ranges are the steps of a recording, and not of a part of it: those of
// torch.profiler, and what covers most of the work.
bool AreTheSteps(const StepRanges& found, Interval gpu_span) {
  if (found.pattern.starts_with(kProfilerStep)) return true;
  TimeNs covered = 0;
  for (const Interval& range : found.ranges)
    covered += std::max<TimeNs>(
        0, std::min(range.end, gpu_span.end) - std::max(range.start, gpu_span.start));
  return covered >= (gpu_span.end - gpu_span.start) / 2;
}

HostCuts CutsOnHost(const Rank& rank, const GpuOps& ops, Interval gpu_span,
                    const StepPattern* pattern) {
  if (pattern == nullptr) {
    std::vector<TimeNs> marks = MarksOfFirstOptimizer(rank.step_marks);
    if (marks.size() > kMinSteps) {
      HostCuts replays;
      if (!MarkMostOfTheTime(marks, gpu_span)) replays = CutsOf(FindGraphSteps(rank, ops));
      if (!replays.times.empty()) return replays;
      return {StepSource::kMarks, "", kMarkConfidence, std::move(marks)};
    }
  }
  std::optional<StepRanges> found = FindStepRanges(rank, gpu_span, pattern);
  if (found &&
      (found->ranges.size() >= kMinSteps || (pattern == nullptr && AreTheSteps(*found, gpu_span))))
    return CutsOfRanges(*std::move(found));
  return pattern == nullptr ? CutsOfStructure(rank, ops) : HostCuts();
}

// Moments on the device for those on the host.
std::vector<StepCut> CutsOnDevice(const Rank& rank, const GpuOps& ops,
                                  const std::vector<TimeNs>& host) {
  // Of the operations that the host launched in each stretch, the one that ends last.
  std::vector<StepCut> cuts(host.size(), StepCut{std::numeric_limits<TimeNs>::min(), kNone});
  std::size_t stretch = 0;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    const TimeNs launched =
        ops.launch[row] == kNone ? ops.start[row] : rank.api.start[ops.launch[row]];
    // Launches follow each other nearly as the operations do, so the last place is a good guess.
    while (stretch < host.size() && host[stretch] <= launched) ++stretch;
    while (stretch > 0 && host[stretch - 1] > launched) --stretch;
    if (stretch == host.size()) continue;
    if (cuts[stretch].op == kNone || ops.end[row] > cuts[stretch].time)
      cuts[stretch] = {ops.end[row], row};
  }
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i].op == kNone) cuts[i].time = host[i];
    // Before the first step the device may have been idle for long, which is no part of the step.
    if (i == 0 && cuts.size() > 1 && host[0] - cuts[0].time > host[1] - host[0])
      cuts[i] = {host[i], kNone};
    if (i > 0 && cuts[i].time < cuts[i - 1].time) cuts[i] = cuts[i - 1];
  }
  return cuts;
}

Steps WholeWindow(const GpuOps& ops, Interval window) {
  std::uint32_t last = kNone;
  for (std::uint32_t row = 0; row < ops.size() && ops.start[row] < window.end; ++row) {
    if (ops.end[row] <= window.end && (last == kNone || ops.end[row] > ops.end[last])) last = row;
  }
  Steps found;
  found.start_ns = window.start;
  found.steps.push_back({.time = window, .last_op = last, .judged = true});
  found.median_ns = window.end - window.start;
  return found;
}

bool Overlapping(const Interval& a, const Interval& b) {
  return a.start < b.end && a.end > b.start;
}

// Steps at the window's ends of which a part was not to be recorded are none: on the device; or on
// the host, as of a device that is behind the gap begins where the part that was recorded ends.
void LeaveRecorded(const Rank& rank, const GpuOps& ops, Steps& found) {
  const auto is_cut = [&](const Step& step) {
    return std::any_of(ops.planned_gaps.begin(), ops.planned_gaps.end(),
                       [&](const Interval& gap) { return Overlapping(gap, step.time); }) ||
           std::any_of(rank.gaps.begin(), rank.gaps.end(), [&](const CaptureGap& gap) {
             return gap.planned() && Overlapping({gap.start, gap.end}, step.host);
           });
  };
  while (!found.steps.empty() && is_cut(found.steps.back())) found.steps.pop_back();
  std::size_t cut = 0;
  while (cut < found.steps.size() && is_cut(found.steps[cut])) ++cut;
  if (cut == 0) return;
  found.first += cut;
  found.start_ns = found.steps[cut - 1].time.end;
  found.before = found.steps[cut - 1].last_op;
  found.steps.erase(found.steps.begin(), found.steps.begin() + static_cast<std::ptrdiff_t>(cut));
}

// `begins`: the first steps are the program's first.
void MarkUnusual(Steps& found, bool begins) {
  std::vector<TimeNs> lengths;
  for (const Step& step : found.steps) lengths.push_back(step.length_ns());
  // Sets the median and the MAD of the lengths, too.
  const auto limit = [&] {
    found.median_ns = Median(lengths);
    std::vector<TimeNs> deviations;
    for (const TimeNs length : lengths) deviations.push_back(std::abs(length - found.median_ns));
    found.mad_ns = Median(deviations);
    return std::max(kIrregularMads * static_cast<double>(found.mad_ns),
                    kIrregularShare * static_cast<double>(found.median_ns));
  };
  double allowed = limit();
  std::size_t first = 0;
  const auto unusual = [&](const Step& step) {
    return std::abs(static_cast<double>(step.length_ns() - found.median_ns)) > allowed;
  };
  while (begins && first + kMinSteps < found.steps.size() && unusual(found.steps[first]))
    found.steps[first++].warm_up = true;
  lengths.erase(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(first));
  allowed = limit();
  for (std::size_t i = first; i < found.steps.size(); ++i)
    found.steps[i].irregular = unusual(found.steps[i]);
  for (Step& step : found.steps) step.judged = step.regular();
}

}  // namespace

std::uint32_t OptimizerOfSteps(const std::map<std::uint32_t, MarkSpan>& optimizers) {
  TimeNs first = kOpen, last = std::numeric_limits<TimeNs>::min();
  for (const auto& [optimizer, marks] : optimizers) {
    first = std::min(first, marks.first);
    last = std::max(last, marks.last);
  }
  const std::pair<const std::uint32_t, MarkSpan>* most = nullptr;
  for (const auto& found : optimizers) {
    const MarkSpan& marks = found.second;
    if (marks.count > kMinSteps && (marks.last - marks.first) / 4 >= (last - first) / 5)
      return found.first;
    if (most == nullptr || marks.count > most->second.count) most = &found;
  }
  return most->first;
}

std::vector<TimeNs> MarksOfFirstOptimizer(const StepMarks& marks) {
  if (marks.size() == 0) return {};
  std::map<std::uint32_t, MarkSpan> optimizers;
  for (std::size_t row = 0; row < marks.size(); ++row)
    optimizers[marks.optimizer[row]].Add(marks.time[row]);
  const std::uint32_t chosen = OptimizerOfSteps(optimizers);
  std::vector<TimeNs> times;
  times.reserve(optimizers.at(chosen).count);
  for (std::size_t row = 0; row < marks.size(); ++row) {
    if (marks.optimizer[row] == chosen) times.push_back(marks.time[row]);
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::string_view StepSourceName(StepSource source) {
  switch (source) {
    case StepSource::kMarks:
      return "optimizer steps";
    case StepSource::kRanges:
      return "ranges";
    case StepSource::kStructure:
      return "repeating work";
    case StepSource::kWindow:
      break;
  }
  return "whole window";
}

std::vector<TimeNs> Steps::cuts() const {
  std::vector<TimeNs> times = {start_ns};
  for (const Step& step : steps) times.push_back(step.time.end);
  return times;
}

std::size_t Steps::count(bool Step::*flag) const {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return step.*flag; }));
}

std::size_t Steps::count_regular() const {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.regular(); }));
}

namespace {

bool IsRegularStep(const Step& step) { return step.regular(); }
bool IsJudgedStep(const Step& step) { return step.judged; }

using ChosenSteps = bool (*)(const Step&);

std::optional<TimeNs> MeanOf(const std::vector<Step>& steps, ChosenSteps chosen) {
  TimeNs sum = 0, number = 0;
  for (const Step& step : steps) {
    if (!chosen(step)) continue;
    sum += step.length_ns();
    ++number;
  }
  if (number == 0) return std::nullopt;
  return sum / number;
}

std::optional<TimeNs> MedianOf(const std::vector<Step>& steps, ChosenSteps chosen) {
  std::vector<TimeNs> lengths;
  for (const Step& step : steps) {
    if (chosen(step)) lengths.push_back(step.length_ns());
  }
  if (lengths.empty()) return std::nullopt;
  return Median(std::move(lengths));
}

std::vector<Interval> TimesOf(const std::vector<Step>& steps, ChosenSteps chosen) {
  std::vector<Interval> times;
  for (const Step& step : steps) {
    if (chosen(step)) times.push_back(step.time);
  }
  return Merge(std::move(times));
}

}  // namespace

std::optional<TimeNs> Steps::regular_mean_ns() const { return MeanOf(steps, IsRegularStep); }
std::optional<TimeNs> Steps::judged_mean_ns() const { return MeanOf(steps, IsJudgedStep); }
std::optional<TimeNs> Steps::regular_median_ns() const { return MedianOf(steps, IsRegularStep); }
std::optional<TimeNs> Steps::judged_median_ns() const { return MedianOf(steps, IsJudgedStep); }
std::vector<Interval> Steps::regular_times() const { return TimesOf(steps, IsRegularStep); }
std::vector<Interval> Steps::judged_times() const { return TimesOf(steps, IsJudgedStep); }
std::size_t Steps::count_judged() const { return count(&Step::judged); }

StepCuts FindStepCuts(const Rank& rank, const Device& device, const StepPattern* pattern) {
  const std::optional<Interval> span = GpuSpan(device.ops);
  if (!span) return {};
  HostCuts host = CutsOnHost(rank, device.ops, *span, pattern);
  std::vector<StepCut> on_device = CutsOnDevice(rank, device.ops, host.times);
  std::optional<StepNumbers> numbers = NumbersOfSteps(rank, *span, host.times, pattern);
  return {host.source,        std::move(host.pattern), host.confidence,
          std::move(numbers), std::move(host.times),   std::move(on_device)};
}

Steps StepsIn(const Rank& rank, const Device& device, const StepCuts& cuts, Interval window) {
  const std::optional<Interval> span = GpuSpan(device.ops);
  if (!span) return WholeWindow(device.ops, window);
  // The first step may begin on the host long before its first operation.
  const TimeNs from =
      window.start > span->start ? window.start : std::numeric_limits<TimeNs>::min();
  Steps found;
  found.source = cuts.source;
  found.pattern = cuts.pattern;
  found.confidence = cuts.confidence;
  found.numbers = cuts.numbers;
  for (std::size_t i = 1; i < cuts.on_device.size(); ++i) {
    const Interval time{cuts.on_device[i - 1].time, cuts.on_device[i].time};
    const TimeNs middle = time.start + (time.end - time.start) / 2;
    if (time.end <= time.start || middle >= window.end) continue;
    if (middle < from) {
      ++found.first;
      continue;
    }
    if (found.steps.empty()) {
      found.start_ns = time.start;
      found.before = cuts.on_device[i - 1].op;
    }
    found.steps.push_back({.time = time,
                           .last_op = cuts.on_device[i].op,
                           .host = {cuts.on_host[i - 1], cuts.on_host[i]}});
  }
  LeaveRecorded(rank, device.ops, found);
  const std::size_t least = std::min(kMinSteps, cuts.on_host.size() - 1);
  if (found.steps.empty() || found.steps.size() < least) return WholeWindow(device.ops, window);
  MarkUnusual(found, !LacksBeginning(rank, found.start_ns));
  return found;
}

Steps FindSteps(const Rank& rank, const Device& device, Interval window,
                const StepPattern* pattern) {
  return StepsIn(rank, device, FindStepCuts(rank, device, pattern), window);
}

}  // namespace traceinject
