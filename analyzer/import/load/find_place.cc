// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/find_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

bool IsKnown(const Communicator& one) {
  return one.hash != 0 && one.hash != kAssumedWorld && one.rank && one.size.value_or(1) > 1;
}

// 0: it is not told.
int WorldSizeOf(const Rank& rank) {
  for (const SystemFact& fact : rank.facts) {
    if (fact.key != "WORLD_SIZE") continue;
    int size = 0;
    std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), size);
    return size;
  }
  return 0;
}

const Communicator* LargestOf(const Rank& rank) {
  const auto is_before = [](const Communicator& a, const Communicator& b) {
    return std::pair(-*a.size, a.created) < std::pair(-*b.size, b.created);
  };
  const Communicator* largest = nullptr;
  for (const Communicator& one : rank.communicators) {
    if (IsKnown(one) && (largest == nullptr || is_before(one, *largest))) largest = &one;
  }
  return largest;
}

}  // namespace

void FindPlaceByCommunicator(Rank& rank) {
  if (rank.rank || !rank.imported_from.empty()) return;
  const Communicator* const world = LargestOf(rank);
  if (world == nullptr || *world->size < WorldSizeOf(rank)) return;
  const bool drives_several =
      std::any_of(rank.communicators.begin(), rank.communicators.end(), [&](const auto& one) {
        return IsKnown(one) && one.hash == world->hash && one.rank != world->rank;
      });
  if (drives_several) return;
  rank.rank = world->rank;
  rank.process.world_size = world->size;
  if (world->nodes == 1) {
    rank.process.local_rank = world->rank;
    rank.process.local_world_size = world->size;
  }
  rank.run_id = fmt::format("nccl:{:016x}", world->hash);
}

}  // namespace traceinject
