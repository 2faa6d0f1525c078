// SPDX-License-Identifier: Apache-2.0
// The exact split of a device's wall time.
//
// C, N and M are the merged intervals, over all streams, of compute kernels, of communication
// kernels, and of copies and memsets. compute = |C|, exposed communication = |N \ C|, exposed
// copies = |(M \ C) \ N|, idle = the rest of the window. The four add up to the wall time to the
// nanosecond. (Definitions as TraceLens prints them; the names C, N, M are ours.)
//
// Where records were lost (GpuOps::unrecorded, U) there is a fifth part, |U \ C|, which is none of
// the others: all of them are of what remains of the window.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct Partition {
  TimeNs wall_ns = 0;
  TimeNs compute_ns = 0;
  TimeNs exposed_communication_ns = 0;
  TimeNs exposed_copy_ns = 0;
  TimeNs idle_ns = 0;
  TimeNs unrecorded_ns = 0;
  TimeNs communication_ns = 0;             // |N|
  TimeNs overlapped_communication_ns = 0;  // |N ∩ C|
  TimeNs copy_ns = 0;                      // |M|

  TimeNs busy_ns() const { return wall_ns - idle_ns - unrecorded_ns; }
  // |N| / |C|: raw, waiting for other ranks included. Empty without compute.
  std::optional<double> communication_to_compute() const;
  // |N ∩ C| / |N|. Empty without communication.
  std::optional<double> overlap_share() const;
  // Of the wall time; 0 for an empty window.
  double share(TimeNs part_ns) const;

  Partition& operator+=(const Partition& other);
};

// Operations are clipped to the window, which is not empty. O(n) time, no memory: the operations
// come sorted by start.
Partition PartitionOf(const GpuOps& ops, Interval window);

// The same for consecutive windows: [cuts[i], cuts[i + 1]). The cuts ascend; equal ones give a
// window of no length. One pass: O(n + cuts).
std::vector<Partition> PartitionBetween(const GpuOps& ops, const std::vector<TimeNs>& cuts);

// compute, exposed communication, exposed copies, idle and unrecorded time as percentages of their
// sum, rounded to 0.001 by largest remainders, so that the printed numbers add up to 100.000. All 0
// for an empty window.
std::array<double, 5> RoundedPercentages(const Partition& partition);

}  // namespace traceinject
