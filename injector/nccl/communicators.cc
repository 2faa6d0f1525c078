// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/communicators.h"

#include <algorithm>

namespace traceinject {

NcclCommunicators::Known& NcclCommunicators::Add(std::uint64_t hash) {
  Known known{};
  known.row.id = ++count_;
  known.row.hash = hash;
  known.row.size = known.row.rank = known.row.device = known.row.nodes = -1;
  std::vector<Known>& same = by_hash_[hash];
  same.push_back(std::move(known));
  return same.back();
}

NcclCommunicators::Known* NcclCommunicators::FindHalf(std::uint64_t hash, int rank,
                                                      bool Known::*said, bool Known::*unsaid) {
  std::vector<Known>& same = by_hash_[hash];
  const auto found = std::find_if(same.begin(), same.end(), [&](const Known& known) {
    return known.*said && !(known.*unsaid) && known.row.rank == rank;
  });
  return found == same.end() ? nullptr : &*found;
}

std::uint32_t NcclCommunicators::Id(std::uint64_t hash) {
  const auto found = by_hash_.find(hash);
  if (found != by_hash_.end() && !found->second.empty()) return found->second.back().row.id;
  // It was made before recording began, or this NCCL does not announce it.
  const Known& known = Add(hash);
  batch_->communicators.push_back(known.row);
  return known.row.id;
}

std::uint32_t NcclCommunicators::Find(std::uint64_t hash, int rank, int size) const {
  const auto same = by_hash_.find(hash);
  if (same == by_hash_.end()) return 0;
  std::uint32_t found = 0;
  for (const auto& [row, announced, described] : same->second) {
    const bool agrees = (row.rank < 0 || row.rank == rank) && (row.size < 0 || row.size == size);
    if (agrees) found = row.id;
  }
  return found;
}

std::uint32_t NcclCommunicators::FindChild(std::uint32_t parent, int rank, int size) const {
  std::uint32_t found = 0;
  for (const auto& [hash, same] : by_hash_) {
    for (const Known& known : same) {
      const CommunicatorRow& row = known.row;
      if (row.parent != parent || row.rank != rank || row.size != size) continue;
      if (found != 0) return 0;
      found = row.id;
    }
  }
  return found;
}

void NcclCommunicators::Announce(const NcclCommunicator& made, std::int64_t created) {
  const std::uint32_t parent = made.parent ? Id(*made.parent) : 0;
  Known* known = FindHalf(made.communicator, made.rank, &Known::described, &Known::announced);
  if (known == nullptr) known = &Add(made.communicator);
  known->announced = true;
  CommunicatorRow& row = known->row;
  row.created = created;
  row.created_known = true;
  row.size = made.size;
  row.rank = made.rank;
  row.device = made.device;
  row.parent = parent;
  batch_->communicators.push_back(row);
}

void NcclCommunicators::Describe(const NcclInitEvent& event, std::int64_t created) {
  Known* known = FindHalf(event.communicator, event.rank, &Known::announced, &Known::described);
  if (known == nullptr) {
    known = &Add(event.communicator);
    known->row.created = created;
    known->row.created_known = true;
    known->row.size = event.ranks;
    known->row.rank = event.rank;
  }
  known->described = true;
  known->row.nodes = event.nodes;
  known->row.name.assign(event.name, event.name_bytes);
  batch_->communicators.push_back(known->row);
}

}  // namespace traceinject
