// SPDX-License-Identifier: Apache-2.0
// What belongs together in what two ranks recorded on one communicator.
//
// Three things tell. NCCL's numbers of the operations, where they are known. Else time: operations
// that no rank can leave before all have entered end at the same moment, so the difference of the
// two clocks, as the ends of matching operations show it, changes only by the clocks' drift,
// whereas in a shifted match it jumps about with the length of the work between. That finds what
// is missing even where all operations look alike, and it tells true from wrong shifts of whole
// steps. What neither decides (operations that ranks may leave early, ends that lie apart) is
// aligned on function and bytes between its neighbors.
//
// Units: int64 nanoseconds.
#pragma once

#include <cstdint>
#include <span>

#include "analyzer/metrics/links/align_sequences.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct SequencedOperation {
  TimeNs start = 0, end = 0;
  std::uint32_t kind = 0;      // a number of function and bytes, and
  std::uint32_t function = 0;  // of the function, the same for all ranks
  std::int64_t sequence = -1;  // NCCL's number, per function; -1: not reported
  bool together = false;       // no rank leaves before all have entered
};

struct AlignOptions {
  bool same_clock = false;  // both on one host
  // Of a Send and its Recv: the kernels of matching operations need not overlap.
  bool may_be_apart = false;
};

// Both in order of issue. Empty if nothing fits: operations that should end together do not.
// O(n log n) where the differences of the clocks are easily found; a search
// for them costs O(n) comparisons of short pieces.
AlignedPairs AlignOperations(std::span<const SequencedOperation> a,
                             std::span<const SequencedOperation> b, const AlignOptions& options);

}  // namespace traceinject
