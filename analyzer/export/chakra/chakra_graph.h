// SPDX-License-Identifier: Apache-2.0
// A process as a graph of nodes, each of which begins when those that it depends on have ended:
// what a recording proves of that.
//
//   stream    an operation depends on the latest one before it in its stream that had ended
//   launch    and on the call that launched it: its node ends with the call, or when the first
//             operation that it launched began
//   event     the first operation that is launched into a stream after it was made to wait for an
//             event depends on the last one launched before the event was recorded
//   host      calls of a thread depend on each other; between them stands a node for the time in
//             which the thread did something else, as long as it was
//   wait      the rest of a call that waited depends on what it waited for: operations of a stream,
//             before an event, or of the device
//
// Nodes lie in time as recorded, so that there are no cycles; what contradicts that is no
// dependency. How nodes of a CUDA graph, and threads, depend on each other is not recorded: a
// thread begins with a node for the time until its first call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

enum class ChakraNodeKind : std::uint8_t { kCall, kWait, kHostCode, kOperation, kCommunication };

struct ChakraNode {
  ChakraNodeKind kind = ChakraNodeKind::kHostCode;
  Interval time;
  std::uint32_t thread = kNone;           // of the first three kinds: index into Rank::threads
  std::uint32_t device = kNone;           // of the others: index into Rank::devices
  std::uint32_t row = kNone;              // of Rank::api, of GpuOps; the first of a launch of NCCL
  std::uint32_t launch = kNone;           // of kCommunication: index into NcclLinks::launches
  std::uint32_t collective = kNone;       // likewise: row of Rank::collectives; kNone: not known
  std::vector<std::uint32_t> after = {};  // indices of nodes before this one
};

// NCCL on each device.
struct NcclOfDevice {
  NcclLinks links;
  NcclParts parts;
};

// Nodes in the order of their start. `chosen`, by device: only operations that start in these
// times, and what their threads did meanwhile. O(events log events).
std::vector<ChakraNode> MakeChakraGraph(const Rank& rank, const std::vector<NcclOfDevice>& nccl,
                                        const std::vector<Intervals>& chosen);

}  // namespace traceinject
