// SPDX-License-Identifier: Apache-2.0
// A device's time in each step, split exactly: computing, communicating and copying while nothing
// more useful ran, and idle time by its cause.
//
// A gap [a, b) of the whole device (union over streams) is ended by an operation that was launched
// by a call beginning at r:
//   r <= a  the operation was queued in time. The gap is the device's own: communication or a copy
//           where the operation before or after is one, else `queued`; unless it was still on its
//           way (launch_latency.h), which is launch latency;
//   r >  a  the host was late. [r, b) is launch latency. [a, r) is split by what the host did
//           (host_timeline.h). Where it did nothing in particular, a call that waited for the
//           device from before a until after it is the cause, because it took away the work that
//           would have been in store (`drained by sync`, or `allocator`); otherwise the time inside
//           calls is `launch` and that between them `python`, or `host wait` if it goes on for too
//           long to be the way from one launch to the next.
//
// Everything adds up to the wall time of the step, to the nanosecond.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/idle/partition.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct StepSplit {
  Partition partition;
  std::array<TimeNs, kIdleCauses> idle_ns{};  // adds up to partition.idle_ns

  TimeNs idle(IdleCause cause) const { return idle_ns[static_cast<std::size_t>(cause)]; }
  StepSplit& operator+=(const StepSplit& other);
};

struct GapCauses {
  std::vector<StepSplit> steps;  // as Steps::steps
  // Host time of causes that only gaps show, by start: kDrainedBySync and kHostWait, and what
  // followed a wait of another kind.
  std::vector<HostSegment> host;
  TimeNs usual_latency_ns = 0;  // from launch to start where the device is idle
  // Of the device, those that begin before the end of the window, and whose launch was to be
  // recorded (Rank::CallIsBeyond).
  std::int64_t operations = 0;
  std::int64_t joined = 0;   // of those, with a known launch
  std::int64_t acausal = 0;  // of those, started before they were launched
};

// Host time between two calls of which nothing was recorded: from so long on something must have
// gone on. A wait, unless the threads that launch used their processor all the time of the steps
// (host_load.h): then the program computed.
struct UnrecordedStretch {
  TimeNs at_least_ns = 0;
  // After a wait that let the device run dry. Where Python stacks tell what the host did then, it
  // is longer: had the host not waited, it would have been ahead by as much as the device had to
  // do, and the stretch would have cost nothing.
  TimeNs after_wait_ns = 0;
  Interval computing;  // where they did; empty: nowhere

  IdleCause cause_of(Interval time) const {
    const bool computes = time.start >= computing.start && time.end <= computing.end;
    return computes ? IdleCause::kPython : IdleCause::kHostWait;
  }
};
UnrecordedStretch UnrecordedStretchesOf(const Rank& rank, const HostTimeline& timeline,
                                        const Steps& steps);

// O(n + segments) after O(1) set-up.
GapCauses SplitSteps(const Rank& rank, const Device& device, const HostTimeline& timeline,
                     const Steps& steps);

// A part of a gap with one cause.
struct IdlePiece {
  Interval time;
  IdleCause cause = IdleCause::kUnknown;
  std::uint32_t ended_by = kNone;  // row of the operation that ended the gap; kNone: none did
};

// The same gaps and causes as they lie in time, inside the window: disjoint, in order, touching
// where a gap has several causes. `steps` only says how long a wait of the host must be to count
// as one, so the window may reach beyond them. O(n + segments).
std::vector<IdlePiece> ExplainIdle(const Rank& rank, const Device& device,
                                   const HostTimeline& timeline, const Steps& steps,
                                   Interval window);

// The part of kQueued inside a set of time whose next operation was launched that long before it
// began. O(n).
TimeNs QueuedTime(const Rank& rank, const GpuOps& ops, TimeNs usual_latency_ns, Interval window,
                  TimeNs ahead_ns, const Intervals& within);

// Whether an operation is a copy from pageable memory to the device, which the host waits for.
bool IsPageableUpload(const Rank& rank, const GpuOps& ops, std::uint32_t row);

}  // namespace traceinject
