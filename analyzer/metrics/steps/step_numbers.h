// SPDX-License-Identifier: Apache-2.0
// The numbers that the program itself gives its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct StepNumbers {
  // What to add to the place of a step among all of the recording, counted from 1: 11 where
  // "step 12" is the first.
  std::int64_t shift = 0;
  std::int64_t first = 0;  // the smallest that is given: steps before it have none of their own
  std::string name;        // "step ", "ProfilerStep#"; of a user's pattern the pattern
};

// Empty: no ranges number the steps, or their numbers start anew, as those of epochs do. `cuts`:
// where steps begin and end on the host, one more than there are steps. O(ranges log steps).
std::optional<StepNumbers> NumbersOfSteps(const Rank& rank, Interval gpu_span,
                                          const std::vector<TimeNs>& cuts,
                                          const StepPattern* pattern);

}  // namespace traceinject
