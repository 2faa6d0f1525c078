// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// From the ids of a dictionary table to indices. Ids are dense from 1 in a file as recorded, which
// makes this an array; a damaged file may hold any number, which must cost no memory. Find is O(1).
class IdMap {
 public:
  void Add(std::int64_t id, std::uint32_t index) {
    constexpr std::size_t kSlack = 4096;
    if (id < 0 || static_cast<std::uint64_t>(id) > 2 * dense_.size() + kSlack) {
      sparse_[id] = index;
      return;
    }
    const auto at = static_cast<std::size_t>(id);
    if (at >= dense_.size()) dense_.resize(at + 1, kNone);
    dense_[at] = index;
  }
  // kNone: there is no such row.
  std::uint32_t Find(std::int64_t id) const {
    const auto at = static_cast<std::size_t>(id);
    if (at < dense_.size() && dense_[at] != kNone) return dense_[at];
    return sparse_.empty() ? kNone : FindSparse(id);
  }

 private:
  // Not in place: so rarely asked for, it would keep Find from being so.
  [[gnu::noinline]] std::uint32_t FindSparse(std::int64_t id) const {
    const auto found = sparse_.find(id);
    return found != sparse_.end() ? found->second : kNone;
  }

  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::int64_t, std::uint32_t> sparse_;
};

}  // namespace traceinject
