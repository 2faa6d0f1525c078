// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/settle_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace traceinject {
namespace {

using Operation = std::pair<std::string_view, std::int64_t>;  // function, bytes

bool IsOfWorld(const Rank& rank, std::size_t row) {
  const std::uint32_t communicator = rank.collectives.communicator[row];
  return communicator != kNone && rank.communicators[communicator].hash == kAssumedWorld;
}

// Without Sends and Receives, which differ from rank to rank.
std::vector<Operation> OperationsOf(const Rank& rank) {
  std::vector<Operation> operations;
  const Collectives& calls = rank.collectives;
  for (std::size_t row = 0; row < calls.size(); ++row) {
    if (IsOfWorld(rank, row) && calls.peer[row] < 0)
      operations.emplace_back(rank.string(calls.function[row]), calls.bytes[row]);
  }
  return operations;
}

bool HasWorld(const Rank& rank) {
  return std::any_of(rank.communicators.begin(), rank.communicators.end(),
                     [](const Communicator& one) { return one.hash == kAssumedWorld; });
}

// Why the operations are not of all ranks; empty: nothing speaks against it.
std::string Contradiction(const Run& run, int world) {
  std::map<int, std::vector<Operation>> by_rank;
  for (const Rank& rank : run.ranks) {
    if (HasWorld(rank) && rank.rank) by_rank.try_emplace(*rank.rank, OperationsOf(rank));
  }
  if (by_rank.size() < static_cast<std::size_t>(world))
    return fmt::format("of {} ranks {} {} read", world, by_rank.size(),
                       by_rank.size() == 1 ? "was" : "were");
  for (const auto& [rank, operations] : by_rank) {
    if (operations != by_rank.begin()->second) return "the ranks issued different ones";
  }
  return {};
}

}  // namespace

std::string SettleAssumedWorld(Run& run) {
  int world = 0;
  for (const Rank& rank : run.ranks) {
    if (HasWorld(rank) && rank.rank) world = std::max(world, rank.process.world_size.value_or(0));
  }
  if (world == 0) return {};
  const std::string why = Contradiction(run, world);
  if (why.empty()) return {};
  for (Rank& rank : run.ranks) {
    for (std::size_t row = 0; row < rank.collectives.size(); ++row) {
      if (IsOfWorld(rank, row)) rank.collectives.communicator[row] = kNone;
    }
  }
  return fmt::format(
      "the traces do not tell the communicators of NCCL operations, and {}: waiting and transfer "
      "cannot be separated, and bus bandwidths are unknown",
      why);
}

}  // namespace traceinject
