// SPDX-License-Identifier: Apache-2.0
// Records that contradict each other or the rules of CUDA, repaired or set aside before anything is
// worked out from them. What was done is counted in Rank::trust.
//
// The rules:
//   * Work of one stream runs one after the other. So an operation cannot last until after the next
//     one of its stream has ended. (It may last until after the next one has started: since Hopper
//     a kernel may be begun early, "programmatic dependent launch". Nodes of a CUDA graph run in
//     parallel but carry one stream; they are not looked at. Nor are copies within host memory, see
//     host_copies.h.)
//   * Work of one stream runs in the order in which it was launched. So a call that began after
//     another one had returned cannot have launched an earlier operation. This alone finds wrong
//     correlation ids: of two that were exchanged one is out of order, however deep the queue.
//     Latencies would not do: with work in store for 50 ms every wrong one within that is
//     plausible. Nor would names: programs launch any kernel from any range. (Of two that start
//     within the clock's tolerance the order is not known.)
//   * Nothing runs before it was launched.
//   * A call that launches a kernel gives one kernel.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Clocks: times of the host and of the GPU agree to about a microsecond, and older traces tell
// whole microseconds.
inline constexpr TimeNs kClockToleranceNs = 2'000;
// An operation this much before its call is not that call's. Below it the link is kept, as the
// GPU's clock, which CUPTI interpolates, may have been off; it counts as an early start.
inline constexpr TimeNs kEarliestStartNs = 1'000'000;
// An operation that outlasts the next one of its stream is corrupt if it also is this much longer
// than such a kernel usually is: a kernel's own durations rarely vary as much, and the following
// one may as well be the wrong one of the two.
inline constexpr std::int64_t kOutlastingFactor = 8;
// Without such a proof, a compute kernel is if it takes so many times the usual and at least so
// long. Communication waits for other ranks and may take any time.
inline constexpr std::int64_t kOutlierFactor = 1'000;
inline constexpr TimeNs kOutlierNs = 100'000'000;
inline constexpr std::uint32_t kMinForUsual = 8;  // of a shape, to say what is usual
// Beyond the recording's own beginning and end.
inline constexpr TimeNs kOutsideNs = 1'000'000'000;
// From this share of wrong links on, those that are left are not much better: of ids that were
// shuffled some stand in order by chance.
inline constexpr double kMaxWrongLinks = 0.1;
// Launches of one thread in a row whose operations are missing: more of them were captured into a
// CUDA graph, or a whole buffer was lost, which the recorder counts.
inline constexpr std::uint32_t kLongestLoss = 8;

// After JoinLaunches, whose links it checks, and before what builds on them. Rows keep their place,
// but for those that are removed. O(n), and O(m log m) for the m operations of a stream that has
// wrong links. No column is copied.
void RepairOperations(Rank& rank);

}  // namespace traceinject
