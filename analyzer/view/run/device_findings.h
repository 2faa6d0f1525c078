// SPDX-License-Identifier: Apache-2.0
// What the analyzer knows about a device that can be shown on a timeline: its steps, and why it was
// idle. The same figures as in the report: both come from the same functions.
#pragma once

#include <optional>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/lane.h"

namespace traceinject {

struct DeviceFindings {
  Steps steps;
  LaneEvents idle;  // by time; source: row of the operation that ended the gap, or kNone
};

// Of all the time from the device's first to its last operation; empty if there is none.
// O(n log n).
std::optional<DeviceFindings> ExamineDevice(const Rank& rank, const Device& device);

// One event a step; source: index into Steps::steps.
LaneEvents StepEvents(const Steps& steps);

Ink InkOf(IdleCause cause);
// The inverse; `ink` is one of an idle cause.
IdleCause CauseOf(Ink ink);
bool IsIdle(Ink ink);

}  // namespace traceinject
