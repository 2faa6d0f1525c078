// SPDX-License-Identifier: Apache-2.0
// The training steps of a rank, as one of its devices saw them.
//
// Where a step ends on the host comes, in this order, from
//   0. ranges that the user's own pattern names: then from nothing else;
//   1. the recorded ends of optimizer steps: one step is one mark of the first optimizer (several
//      optimizers, or several backward passes before one optimizer step, stay one step); but where
//      these are few, and most of the work is replays of a CUDA graph that holds the optimizer, the
//      replays (see graph_steps.h);
//   2. NVTX or annotation ranges that name steps (see nvtx_steps.h): a step lasts until the next
//      range begins, so that what a program does between its ranges belongs to a step too;
//   3. what the work of the device repeats (see structure_steps.h), unless one or two steps are
//      marked that are most of the work: what repeats inside a step is none;
//   4. nothing: the whole window is one step.
// On the device a step ends when the last operation that the host launched before that moment
// ends. So the idle time that follows belongs to the next step, and run-ahead of the host does not
// blur the steps. The first one begins on the host, where nothing was launched before it: what the
// program does before its first operation belongs to it.
//
// Units and convention: int64 nanoseconds, half-open intervals. Consecutive steps touch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/metrics/steps/step_numbers.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// With less nothing says how steps vary, and no period is to be seen.
inline constexpr std::size_t kMinSteps = 3;

enum class StepSource : std::uint8_t { kMarks, kRanges, kStructure, kWindow };

// "optimizer steps", "ranges", "repeating work", "whole window".
std::string_view StepSourceName(StepSource source);

struct Step {
  Interval time;  // on the device
  // Row of the operation whose end is the step's; kNone: no operation, the host's moment is.
  std::uint32_t last_op = kNone;
  bool warm_up = false;    // far from the median, at the beginning
  bool irregular = false;  // far from the median, elsewhere
  bool judged = false;     // figures are of these: UsualSteps() of step_kinds.h, or of the verdict
  Interval host{};         // the moments on the host that it was told by; of the window none

  TimeNs length_ns() const { return time.end - time.start; }
  bool regular() const { return !warm_up && !irregular; }
};

struct Steps {
  StepSource source = StepSource::kWindow;
  std::string pattern;                 // of the ranges; empty for the other sources
  double confidence = 0;               // 0 to 1, that these are the steps; 0 for the window
  std::size_t first = 1;               // place of the first step among all, counted from 1
  std::optional<StepNumbers> numbers;  // that the program gives them; empty: it gives none
  TimeNs start_ns = 0;                 // of the first step
  std::uint32_t before = kNone;        // row of the operation that ends there; kNone: none does
  std::vector<Step> steps;
  TimeNs median_ns = 0, mad_ns = 0;  // of the steps after warm-up

  // Whether nothing says how they vary: the window, or one or two steps that the program marked.
  bool few() const { return source == StepSource::kWindow || steps.size() < kMinSteps; }
  // The moments at which steps begin and end, one more than there are steps.
  std::vector<TimeNs> cuts() const;
  std::size_t count(bool Step::*flag) const;
  std::size_t count_regular() const;
  // Of the regular steps; empty: there are none.
  std::optional<TimeNs> regular_mean_ns() const, regular_median_ns() const;
  // When regular steps went on: merged, so that neighbors are one.
  std::vector<Interval> regular_times() const;
  // The same of those that are judged.
  std::size_t count_judged() const;
  std::optional<TimeNs> judged_mean_ns() const, judged_median_ns() const;
  std::vector<Interval> judged_times() const;
  // As the program numbers it, else its place. `row`: of steps.
  std::int64_t number(std::size_t row) const {
    return static_cast<std::int64_t>(first + row) + (numbers ? numbers->shift : 0);
  }
};

// The marks of one optimizer.
struct MarkSpan {
  std::size_t count = 0;
  TimeNs first = 0, last = 0;

  void Add(TimeNs time) {
    first = count == 0 ? time : std::min(first, time);
    last = count == 0 ? time : std::max(last, time);
    ++count;
  }
};

// The one whose marks end the steps: the first that is at work for most of the time, else the one
// with most marks. `optimizers`: at least one, by number. O(optimizers).
std::uint32_t OptimizerOfSteps(const std::map<std::uint32_t, MarkSpan>& optimizers);

// When that optimizer ended its steps, on the host. O(n).
std::vector<TimeNs> MarksOfFirstOptimizer(const StepMarks& marks);

// Steps whose time lies within the window, at least half of it. With fewer than three the source is
// kWindow and the only step is the window, unless the program marked no more than these. Median and
// MAD (median absolute deviation) leave warm-up out; a step is irregular beyond median ± max(5
// x 1.4826 MAD, 10 % of the median). These two hold irregular steps: a few hardly move them, and
// which steps are just irregular would. A pattern says which ranges are the steps; then nothing
// else is. O(n + steps log steps).
Steps FindSteps(const Rank& rank, const Device& device, Interval window,
                const StepPattern* pattern = nullptr);

// The same in two parts, for who needs steps of more than one window: where they end in the whole
// recording, which takes the time, and those of a window.
struct StepCut {
  TimeNs time = 0;
  std::uint32_t op = kNone;  // row of the operation that ends there
};
struct StepCuts {
  StepSource source = StepSource::kWindow;
  std::string pattern;
  double confidence = 0;
  std::optional<StepNumbers> numbers;  // as Steps::numbers
  std::vector<TimeNs> on_host;
  std::vector<StepCut> on_device;  // as on_host
};
StepCuts FindStepCuts(const Rank& rank, const Device& device, const StepPattern* pattern = nullptr);
Steps StepsIn(const Rank& rank, const Device& device, const StepCuts& cuts, Interval window);

}  // namespace traceinject
