// SPDX-License-Identifier: Apache-2.0
// Idle time of a device and the launch calls that ended it.
//
// A gap is a maximal interval of the window in which no operation ran on any stream of the device.
// Its launch call is that of the operation that ended it (the first by start). For a gap [a, b) and
// a launch call that began at r:
//   r <= a   the operation was queued: the whole gap is waiting for something on the device, or
//            launch latency if it was still on its way (launch_latency.h);
//   r >  a   the host was late: [a, r) is host time, [r, b) launch latency.
// Unrecorded time (GpuOps::unrecorded) is no part of a gap; what ended a gap before it is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

enum class GapCause : std::uint8_t { kUnknown, kHostLate, kLaunchLatency, kQueued };

struct Gap {
  Interval time;
  std::uint32_t op = kNone;  // row of the operation that ended it; kNone: the window ended after
                             // the last operation
  std::uint32_t launch = kNone;  // row of Rank::api; kNone: unknown
  TimeNs host_late_ns = 0;
  TimeNs launch_latency_ns = 0;
  GapCause cause = GapCause::kUnknown;  // of the larger part

  TimeNs length_ns() const { return time.end - time.start; }
};

// Sums over all gaps; the four add up to the idle time.
struct IdleCauses {
  std::int64_t gap_count = 0;
  TimeNs host_late_ns = 0, launch_latency_ns = 0, queued_ns = 0, unknown_ns = 0;

  IdleCauses& operator+=(const IdleCauses& other);
};

struct Gaps {
  IdleCauses causes;
  std::vector<Gap> longest;  // longest first, then by start
};

// Of these windows, each by itself. Keeps the `keep` longest gaps. O(n log keep) time, O(keep)
// memory.
Gaps FindGaps(const GpuOps& ops, const ApiCalls& api, const Intervals& windows, std::size_t keep);

}  // namespace traceinject
