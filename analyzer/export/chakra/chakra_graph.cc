// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/chakra_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/export/chakra/chakra_host.h"
#include "analyzer/export/chakra/chakra_operations.h"
#include "analyzer/export/chakra/wait_targets.h"

namespace traceinject {
namespace {

// Operations of one stream that may go on at once: a kernel that begins before the one before it
// ends (programmatic dependent launch), and the kernels of a graph.
constexpr std::size_t kMostAtOnce = 32;

void Depend(const ChakraOperations& operations, OpRef op, OpRef on,
            std::vector<ChakraNode>& nodes) {
  const auto [first, end] = operations.NodesOf(op);
  const auto [first_on, end_on] = operations.NodesOf(on);
  if (first == first_on) return;  // of the same launch
  for (std::uint32_t node = first; node < end; ++node) {
    for (std::uint32_t other = first_on; other < end_on; ++other)
      nodes[node].after.push_back(other);
  }
}

void LinkStream(const Rank& rank, const ChakraOperations& operations,
                const std::vector<OpRef>& stream, std::vector<ChakraNode>& nodes) {
  const auto end_of = [&](std::size_t i) {
    return rank.devices[stream[i].device].ops.end[stream[i].row];
  };
  for (std::size_t i = 1; i < stream.size(); ++i) {
    const TimeNs start = rank.devices[stream[i].device].ops.start[stream[i].row];
    std::size_t latest = i;  // none
    for (std::size_t back = 1; back <= std::min(i, kMostAtOnce); ++back) {
      const std::size_t other = i - back;
      if (end_of(other) > start) continue;
      if (latest == i || end_of(other) > end_of(latest)) latest = other;
      if (back == 1) break;
    }
    if (latest != i) Depend(operations, stream[i], stream[latest], nodes);
  }
}

// By start; dependencies on what comes later, or ended later, are left out: they contradict the
// recorded times.
std::vector<ChakraNode> InOrder(std::vector<ChakraNode> nodes) {
  std::vector<std::uint32_t> order(nodes.size()), place(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(nodes[a].time.start, nodes[a].time.end) <
           std::pair(nodes[b].time.start, nodes[b].time.end);
  });
  for (std::uint32_t at = 0; at < order.size(); ++at) place[order[at]] = at;
  std::vector<ChakraNode> sorted;
  sorted.reserve(nodes.size());
  for (const std::uint32_t index : order) {
    ChakraNode node = std::move(nodes[index]);
    const auto at = static_cast<std::uint32_t>(sorted.size());
    std::vector<std::uint32_t> after;
    for (const std::uint32_t other : node.after) {
      if (place[other] < at && sorted[place[other]].time.end <= node.time.start)
        after.push_back(place[other]);
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    node.after = std::move(after);
    sorted.push_back(std::move(node));
  }
  return sorted;
}

}  // namespace

std::vector<ChakraNode> MakeChakraGraph(const Rank& rank, const std::vector<NcclOfDevice>& nccl,
                                        const std::vector<Intervals>& chosen) {
  std::vector<ChakraNode> nodes;
  const ChakraOperations operations(rank, nccl, chosen, nodes);
  const WaitTargets waits(rank, operations);
  AddHostNodes(rank, operations, waits, nodes);
  for (const auto& stream : operations.by_stream()) LinkStream(rank, operations, stream, nodes);
  for (const auto& [op, on] : waits.of_streams()) Depend(operations, op, on, nodes);
  return InOrder(std::move(nodes));
}

}  // namespace traceinject
