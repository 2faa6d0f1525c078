// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/join_launches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

bool Launches(ApiClass api_class) {
  return api_class == ApiClass::kLaunch || api_class == ApiClass::kCopy ||
         api_class == ApiClass::kMemset || api_class == ApiClass::kGraphLaunch;
}

// Correlation id -> row of the api table.
class LaunchIndex {
 public:
  explicit LaunchIndex(const Rank& rank) {
    const auto& ids = rank.api.correlation;
    if (ids.empty()) return;
    std::uint64_t lowest = ids.front(), highest = lowest;
    ForEachValue(ids, [&](std::uint32_t, std::uint64_t id) {
      lowest = std::min(lowest, id);
      highest = std::max(highest, id);
    });
    base_ = lowest;
    constexpr std::uint64_t kSlack = 1 << 20;
    if (highest - base_ <= 8 * static_cast<std::uint64_t>(ids.size()) + kSlack)
      dense_.assign(highest - base_ + 1, kNone);
    ForEachValue(ids, [&](std::uint32_t row, std::uint64_t id) { Add(rank, id, row); });
    std::sort(sorted_.begin(), sorted_.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const bool a_launches = IsLaunch(rank, a.second), b_launches = IsLaunch(rank, b.second);
      return a_launches != b_launches ? a_launches : a.second < b.second;
    });
  }

  std::uint32_t Find(std::uint64_t correlation) const {
    if (correlation == 0) return kNone;
    if (!dense_.empty()) {
      return correlation >= base_ && correlation - base_ < dense_.size()
                 ? dense_[correlation - base_]
                 : kNone;
    }
    const auto found =
        std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(correlation, std::uint32_t{0}),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    return found != sorted_.end() && found->first == correlation ? found->second : kNone;
  }

 private:
  void Add(const Rank& rank, std::uint64_t id, std::uint32_t row) {
    if (id == 0) return;
    if (dense_.empty()) {
      sorted_.emplace_back(id, row);
      return;
    }
    std::uint32_t& slot = dense_[id - base_];
    if (slot == kNone || IsBetter(rank, row, slot)) slot = row;
  }
  static bool IsLaunch(const Rank& rank, std::uint32_t row) {
    return Launches(rank.api_names[rank.api.name[row]].api_class);
  }
  // Rows are sorted by start, so of two equals the one found first is the earlier.
  static bool IsBetter(const Rank& rank, std::uint32_t row, std::uint32_t than) {
    return IsLaunch(rank, row) && !IsLaunch(rank, than);
  }

  std::uint64_t base_ = 0;
  std::vector<std::uint32_t> dense_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_;
};

}  // namespace

void JoinLaunches(Rank& rank) {
  const LaunchIndex index(rank);
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    ops.launch.clear();
    ops.launch.reserve(ops.size());
    ForEachValue(ops.correlation,
                 [&](std::uint32_t, std::uint64_t id) { ops.launch.push_back(index.Find(id)); });
  }
}

}  // namespace traceinject
