// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/repair_links.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analyzer/import/finish/host_copies.h"
#include "analyzer/import/finish/repair_operations.h"
#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

// GPU operations of one device.
class Links {
 public:
  Links(Rank& rank, GpuOps& ops)
      : rank_(rank), ops_(ops), latest_(rank.streams.size(), kEarliest) {}

  // Removes those that are wrong by themselves, and notes the streams that are out of order.
  void CheckEach() {
    std::vector<bool> taken(rank_.api.size());
    disordered_.assign(rank_.streams.size(), false);
    ForEachValue(ops_.stream, [&](std::uint32_t row, std::uint32_t stream) {
      const std::uint32_t call = ops_.launch[row];
      if (call == kNone) return;
      ++rank_.trust.links;
      const TimeNs called = rank_.api.start[call];
      if (ops_.start[row] < called - kEarliestStartNs || !Fits(row, call))
        return wrong_.push_back(row);
      if (ops_.start[row] < called - kClockToleranceNs) ++rank_.trust.early_starts;
      if (IsOneKernel(row, call)) {
        if (taken[call]) {
          ++rank_.trust.repeated_links;
          return wrong_.push_back(row);
        }
        taken[call] = true;
      }
      if (IsHostCopy(rank_, ops_, row)) return;
      TimeNs& latest = latest_[stream];
      if (rank_.api.end[call] < latest - kClockToleranceNs) disordered_[stream] = true;
      latest = std::max(latest, called);
    });
  }

  void CheckOrder() {
    for (std::uint32_t stream = 0; stream < disordered_.size(); ++stream) {
      if (disordered_[stream]) CheckOrderOf(stream);
    }
  }

  std::int64_t wrong() const { return static_cast<std::int64_t>(wrong_.size()); }

  void Remove(bool all) {
    if (all) std::fill(ops_.launch.begin(), ops_.launch.end(), kNone);
    for (const std::uint32_t row : wrong_) ops_.launch[row] = kNone;
  }

 private:
  static constexpr TimeNs kEarliest = std::numeric_limits<TimeNs>::min() / 2;

  ApiClass ClassOf(std::uint32_t call) const {
    return rank_.api_names[rank_.api.name[call]].api_class;
  }
  // A kernel is not launched by a call that copies; a copy or memset by one that launches kernels
  // neither.
  bool Fits(std::uint32_t row, std::uint32_t call) const {
    const ApiClass api_class = ClassOf(call);
    if (ops_.kind[row] == OpKind::kKernel)
      return api_class != ApiClass::kCopy && api_class != ApiClass::kMemset;
    return api_class != ApiClass::kLaunch;
  }
  bool IsOneKernel(std::uint32_t row, std::uint32_t call) const {
    return ops_.kind[row] == OpKind::kKernel && ClassOf(call) == ApiClass::kLaunch &&
           (rank_.graph_nodes.empty() || ops_.graph_node[row] == kNone);
  }

  // Keeps the longest run of operations whose calls began one after the other, and what fits
  // between them. What starts together may have been launched in either order: on an H200 a kernel
  // was told to start up to 0.5 us before the one launched ahead of it.
  void CheckOrderOf(std::uint32_t stream) {
    std::vector<std::uint32_t> rows;
    rows.reserve(ops_.size());
    auto skip = wrong_.begin();
    const auto known_end = wrong_.end();
    for (std::uint32_t row = 0; row < ops_.size(); ++row) {
      while (skip != known_end && *skip < row) ++skip;
      if (skip != known_end && *skip == row) continue;
      if (ops_.stream[row] == stream && ops_.launch[row] != kNone && !IsHostCopy(rank_, ops_, row))
        rows.push_back(row);
    }
    const std::vector<std::uint32_t> kept = LongestInOrder(rows);
    std::vector<std::uint32_t> wrong;
    std::size_t next = 0;  // in kept
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      if (next < kept.size() && kept[next] == i) {
        ++next;
        continue;
      }
      const std::uint32_t call = ops_.launch[rows[i]];
      std::size_t before = next, after = next;  // before: one past it
      while (before > 0 && StartTogether(rows[kept[before - 1]], rows[i])) --before;
      while (after < kept.size() && StartTogether(rows[i], rows[kept[after]])) ++after;
      const bool after_before = before == 0 || rank_.api.end[call] + kClockToleranceNs >=
                                                   CalledAt(rows[kept[before - 1]]);
      const bool before_after = after == kept.size() ||
                                rank_.api.end[ops_.launch[rows[kept[after]]]] + kClockToleranceNs >=
                                    rank_.api.start[call];
      if (!after_before || !before_after) wrong.push_back(rows[i]);
    }
    const std::size_t middle = wrong_.size();
    wrong_.insert(wrong_.end(), wrong.begin(), wrong.end());
    std::inplace_merge(wrong_.begin(), wrong_.begin() + static_cast<std::ptrdiff_t>(middle),
                       wrong_.end());
  }

  bool StartTogether(std::uint32_t first, std::uint32_t second) const {
    return ops_.start[second] - ops_.start[first] <= kClockToleranceNs;
  }
  TimeNs CalledAt(std::uint32_t row) const { return rank_.api.start[ops_.launch[row]]; }

  // Places in `rows` of a longest sequence in which calls begin in order. O(n log n), O(n) where
  // nearly all do.
  std::vector<std::uint32_t> LongestInOrder(const std::vector<std::uint32_t>& rows) const {
    // Where those sequences end of each length whose last call begins first.
    std::vector<std::uint32_t> last_place;
    last_place.reserve(rows.size());  // as good as all are in order
    std::vector<std::uint32_t> before(rows.size(), kNone);
    const auto is_before = [&](TimeNs start, std::uint32_t place) {
      return start < CalledAt(rows[place]);
    };
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const TimeNs start = CalledAt(rows[i]);
      const bool is_last = last_place.empty() || !is_before(start, last_place.back());
      const auto at =
          is_last ? last_place.end()
                  : std::upper_bound(last_place.begin(), last_place.end(), start, is_before);
      if (at != last_place.begin()) before[i] = *(at - 1);
      if (at == last_place.end()) {
        last_place.push_back(i);
      } else {
        *at = i;
      }
    }
    if (last_place.empty()) return last_place;
    // Read backwards, each at its length: the ends are needed no more.
    std::uint32_t place = last_place.back();
    for (auto kept = last_place.rbegin(); kept != last_place.rend(); ++kept) {
      *kept = place;
      place = before[place];
    }
    return last_place;
  }

  Rank& rank_;
  GpuOps& ops_;
  std::vector<TimeNs> latest_;        // per stream: the latest start of a call so far
  std::vector<bool> disordered_;      // per stream
  std::vector<std::uint32_t> wrong_;  // rows, ascending
};

}  // namespace

void RepairLinks(Rank& rank) {
  if (rank.api.size() == 0) return;
  std::vector<Links> devices;
  for (Device& device : rank.devices) {
    devices.emplace_back(rank, device.ops);
    devices.back().CheckEach();
    devices.back().CheckOrder();
    rank.trust.wrong_links += devices.back().wrong();
  }
  rank.trust.links_dropped = static_cast<double>(rank.trust.wrong_links) >
                             kMaxWrongLinks * static_cast<double>(rank.trust.links);
  for (Links& links : devices) links.Remove(rank.trust.links_dropped);
}

}  // namespace traceinject
