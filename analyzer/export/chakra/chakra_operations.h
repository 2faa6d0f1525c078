// SPDX-License-Identifier: Apache-2.0
// The nodes of GPU operations, and those of them that an operation is.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/export/chakra/chakra_graph.h"

namespace traceinject {

// An operation of a device.
struct OpRef {
  std::uint32_t device = kNone, row = kNone;
  bool known() const { return device != kNone; }
};

class ChakraOperations {
 public:
  // Adds the nodes of the chosen operations: one each; of a launch of NCCL one for each of its
  // calls, all of them as long as the launch.
  ChakraOperations(const Rank& rank, const std::vector<NcclOfDevice>& nccl,
                   const std::vector<Intervals>& chosen, std::vector<ChakraNode>& nodes);

  // Indices of its nodes: [first, second). Empty: it was not chosen.
  std::pair<std::uint32_t, std::uint32_t> NodesOf(OpRef op) const {
    return nodes_of_[op.device][op.row];
  }
  // Those of one stream, by index of Rank::streams, as they began.
  const std::vector<std::vector<OpRef>>& by_stream() const { return by_stream_; }

 private:
  void AddDevice(const Rank& rank, std::uint32_t device, const NcclOfDevice& nccl,
                 const Intervals& chosen, std::vector<ChakraNode>& nodes);

  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> nodes_of_;  // by device and row
  std::vector<std::vector<OpRef>> by_stream_;
};

}  // namespace traceinject
