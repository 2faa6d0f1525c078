// SPDX-License-Identifier: Apache-2.0
// Training steps that the program itself marked with NVTX ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What torch.profiler calls its steps, before their number.
inline constexpr std::string_view kProfilerStep = "ProfilerStep#";

struct StepCount {
  std::int64_t steps = 0;
  std::string pattern;  // text of the ranges with the number left out: "ProfilerStep#N"
  Interval host{};      // from the start of the first to the end of the last of them on the host
};

// The ranges of one pattern on one thread, by start.
struct StepRanges {
  std::string pattern;           // as in StepCount
  std::vector<Interval> ranges;  // on the host, as recorded; an open end is that of the GPU work
};

// The text before the number if this names a step: "ProfilerStep#12" -> "ProfilerStep#",
// "train_step 3" -> "train_step ". Matches ProfilerStep#<n>, texts that end in the word step,
// iteration or iter (any case), [ _#:]* and a number, and those of jax.profiler's and TensorFlow's
// step annotations ("train#step_num=3#"); else empty.
std::string_view StepPrefix(std::string_view text);

// The user's own rule for which ranges are steps.
class StepPattern {
 public:
  // A regular expression (ECMAScript) that matches anywhere in a name.
  static Result<StepPattern> Parse(const std::string& text);

  const std::string& text() const { return text_; }
  // Names of more than 512 bytes are no steps: matching takes a stack as deep as they are long.
  bool Matches(std::string_view name) const;

 private:
  std::string text_;
  std::regex regex_;
};

// The ranges that name the steps of a process, by the rules of CountSteps, at least partly within
// `gpu_span`. Empty if there are none. With a pattern: those that it matches, on the thread with
// most of them, and not what lies within another one. O(ranges log ranges).
std::optional<StepRanges> FindStepRanges(const Rank& rank, Interval gpu_span,
                                         const StepPattern* pattern = nullptr);

// Steps of one process that belong to the window: each range is cut to `gpu_span` (the first one
// begins on the host before any GPU work) and belongs where the middle of what remains lies. Among
// several kinds of step ranges ProfilerStep wins, else the kind that covers most time, which is the
// outermost; of one kind, the thread with most of them. Empty if there are none at all. O(ranges).
std::optional<StepCount> CountSteps(const Rank& rank, Interval gpu_span, Interval window,
                                    const StepPattern* pattern = nullptr);

}  // namespace traceinject
