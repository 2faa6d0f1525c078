// SPDX-License-Identifier: Apache-2.0
// Where processes stood when nothing completed on their GPUs any more although work was launched
// (TRACEINJECT_STALL): what is outstanding, who waits, and which operation of NCCL it is.
//
// Units and convention: int64 nanoseconds, half-open intervals.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

struct Stall {
  Interval time;  // end kOpen: to the end of the recording
  // The last operation that completed before: index into Rank::devices and row of its ops.
  std::uint32_t device = kNone, last_op = kNone;
  std::vector<std::uint32_t> launches;  // rows of Rank::api without an operation, in order
  std::uint32_t collective = kNone;     // row of Rank::collectives: the first that is outstanding
  std::vector<std::uint32_t> waits;     // rows of Rank::host_spans
  std::vector<std::uint32_t> ranges;    // rows of Rank::nvtx that were open, in order
  bool unanswered = false;              // CUPTI did not tell either what completed
};

// By start. Of one that ended only the time and the last operation are told: what was outstanding
// then is not known any more. O(events).
std::vector<Stall> FindStalls(const Rank& rank);

// Rows of Rank::collectives that had begun when the recording ended and that no operation on a GPU
// ended, in order. Of what was launched in the last moments, or before a gap in the recording,
// nothing can be said. Those after which a later one of the communicator ran have merely lost their
// record. O(events log events).
std::vector<std::uint32_t> FindHungCollectives(const Rank& rank);

// Until when the process is known to have lived, with or without GPU work.
TimeNs LastKnownTime(const Rank& rank);

// What became of an operation of NCCL.
enum class OperationState { kUnknown, kCompleted, kOutstanding };
OperationState StateOf(const Rank& rank, std::uint32_t collective);

// Its number among those of its function on its communicator, the same on all ranks; -1: not
// reported.
std::int64_t SequenceOf(const Rank& rank, std::uint32_t collective);

// Row of Rank::collectives of the operation that is the same as one of another process, of the
// given communicator, function and sequence; where this process did not come to it, or the sequence
// is not reported (-1), of its last one before. kNone: there is none. O(collectives).
std::uint32_t FindSameOrLast(const Rank& rank, std::uint64_t communicator_hash,
                             std::string_view function, std::int64_t sequence);

}  // namespace traceinject
