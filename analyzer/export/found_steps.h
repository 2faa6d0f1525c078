// SPDX-License-Identifier: Apache-2.0
// The training steps of a process as the report finds them, for traces.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/export/event_arguments.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct FoundSteps {
  int ordinal = 0;  // of the device
  Steps steps;      // at least one
};

// Of each device, in the order of the rank; not of one that has none. O(events) time.
std::vector<FoundSteps> FindStepsOfDevices(const Rank& rank);

// Whether the recording itself holds ranges with the names that torch.profiler gives its steps.
bool HasProfilerSteps(const Rank& rank);

// The thread whose steps they are: which ends them, else the program's main thread.
std::int64_t TrainingThreadId(const Rank& rank);

// When the host began each of the steps, and ended the last: one more than there are steps. What it
// launched between two of these moments is what the step between them is told by. An optimizer's
// step often ends inside a range of the program: then the moment is the range's end if nothing is
// launched before, so that steps and ranges nest. O(events).
std::vector<TimeNs> MomentsOnHost(const Rank& rank, const Steps& steps);

std::vector<Argument> StepArguments(const Steps& steps, const Step& step);

}  // namespace traceinject
