// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/chakra_operations.h"

#include "analyzer/model/intervals.h"

namespace traceinject {

ChakraOperations::ChakraOperations(const Rank& rank, const std::vector<NcclOfDevice>& nccl,
                                   const std::vector<Intervals>& chosen,
                                   std::vector<ChakraNode>& nodes)
    : nodes_of_(rank.devices.size()), by_stream_(rank.streams.size()) {
  for (std::uint32_t device = 0; device < rank.devices.size(); ++device)
    AddDevice(rank, device, nccl[device], chosen[device], nodes);
}

void ChakraOperations::AddDevice(const Rank& rank, std::uint32_t device, const NcclOfDevice& nccl,
                                 const Intervals& chosen, std::vector<ChakraNode>& nodes) {
  const GpuOps& ops = rank.devices[device].ops;
  auto& nodes_of = nodes_of_[device];
  nodes_of.resize(ops.size());
  auto part = nccl.parts.ops.begin();
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    while (part != nccl.parts.ops.end() && part->first < row) ++part;
    const bool is_nccl = part != nccl.parts.ops.end() && part->first == row;
    const NcclLaunch* launch = is_nccl ? &nccl.links.launches[part->second] : nullptr;
    if (!Contains(chosen, launch == nullptr ? ops.start[row] : launch->start)) continue;
    const auto first = static_cast<std::uint32_t>(nodes.size());
    if (launch == nullptr) {
      nodes.push_back({.kind = ChakraNodeKind::kOperation,
                       .time = {ops.start[row], ops.end[row]},
                       .device = device,
                       .row = row});
    } else if (launch->first_op == row) {
      std::vector<std::uint32_t> calls = nccl.parts.calls[part->second];
      if (calls.empty()) calls.push_back(kNone);
      for (const std::uint32_t call : calls)
        nodes.push_back({.kind = ChakraNodeKind::kCommunication,
                         .time = {launch->start, launch->end},
                         .device = device,
                         .row = row,
                         .launch = part->second,
                         .collective = call});
    }
    nodes_of[row] = launch == nullptr || launch->first_op == row
                        ? std::pair(first, static_cast<std::uint32_t>(nodes.size()))
                        : nodes_of[launch->first_op];
    by_stream_[ops.stream[row]].push_back({device, row});
  }
}

}  // namespace traceinject
