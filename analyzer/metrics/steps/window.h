// SPDX-License-Identifier: Apache-2.0
// The time that a report is about.
//
// Units and convention: int64 nanoseconds on the clock of the run, half-open [start, end). The
// origin is the start of the run's first GPU operation: what --from and --to are relative to,
// because GPU work is what a run has in common on all ranks.
#pragma once

#include <optional>

#include "analyzer/model/intervals.h"
#include "analyzer/model/op_range.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct TimeLimits {
  std::optional<TimeNs> from_ns = std::nullopt,
                        to_ns = std::nullopt;  // relative to the origin; empty: no limit
};

struct Window {
  Interval time;
  bool restricted = false;  // a limit cut something off
};

// Start of the run's first GPU operation; empty if there is none. O(devices).
std::optional<TimeNs> RunOrigin(const Run& run);

// From the start of the first to the end of the last operation; empty without operations. O(n).
std::optional<Interval> GpuSpan(const GpuOps& ops);

// The span of the device, cut by the limits. Empty if nothing of it remains, or if all operations
// have length 0. O(n).
std::optional<Window> DeviceWindow(const GpuOps& ops, TimeNs origin, const TimeLimits& limits);

// Of the parts of the window between planned gaps one that stands for the others: the middle one of
// those that have half as many operations as any, and of which half as many are joined to their
// calls, since without its call nothing explains a gap (with TRACEINJECT_DETACH launches are
// recorded in the first part only). Not the longest: of parts that are alike that is the one with
// the most unusual step. So ranks that record the same steps are reported on by the same.
// O(gaps + operations).
Window ReportedPart(const GpuOps& ops, const Window& window);

}  // namespace traceinject
