// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/load_grid.h"

#include <algorithm>
#include <utility>

namespace traceinject {

LoadGroups::LoadGroups(const Rank& rank, const GpuOps& ops, std::size_t most_names)
    : rank_(rank), ops_(ops) {
  std::unordered_map<std::uint32_t, TimeNs> ns;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] == OpKind::kKernel && ops.end[op] != kOpen)
      ns[NameOf(op)] += ops.end[op] - ops.start[op];
  }
  std::vector<std::pair<TimeNs, std::uint32_t>> order;
  for (const auto& [name, total] : ns) order.emplace_back(-total, name);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), most_names));
  for (const auto& [total, name] : order) group_.emplace(name, group_.size());
}

std::size_t LoadGroups::Of(std::size_t op) const {
  if (ops_.kind[op] != OpKind::kKernel) return group_.size() + 1;
  const auto found = group_.find(NameOf(op));
  return found == group_.end() ? group_.size() : found->second;
}

LoadGrid::LoadGrid(const GpuOps& ops, const LoadGroups& groups, Interval time, TimeNs cell_ns)
    : start_(time.start),
      cell_(cell_ns),
      cells_(static_cast<std::size_t>((time.end - time.start) / cell_ns) + 1),
      sums_(groups.size(), std::vector<double>(cells_ + 1)) {
  constexpr TimeNs kReachNs = 1'000'000'000;
  auto op = static_cast<std::size_t>(
      std::lower_bound(ops.start.begin(), ops.start.end(), time.start - kReachNs) -
      ops.start.begin());
  for (; op < ops.size() && ops.start[op] < time.end; ++op) {
    if (ops.end[op] != kOpen) Add(ops.start[op], ops.end[op], sums_[groups.Of(op)]);
  }
  for (std::vector<double>& sum : sums_) {
    for (std::size_t i = 1; i < sum.size(); ++i) sum[i] += sum[i - 1];
  }
}

// Into the place behind each cell.
void LoadGrid::Add(TimeNs from, TimeNs to, std::vector<double>& sum) const {
  const double first = std::max(Place(from), 0.0),
               last = std::min(Place(to), static_cast<double>(cells_));
  for (auto cell = static_cast<std::size_t>(first); static_cast<double>(cell) < last; ++cell) {
    const auto begin = static_cast<double>(cell);
    sum[cell + 1] += std::min(last, begin + 1) - std::max(first, begin);
  }
}

double LoadGrid::CellsUntil(std::size_t group, TimeNs time) const {
  const double place = std::clamp(Place(time), 0.0, static_cast<double>(cells_));
  const auto cell = std::min(static_cast<std::size_t>(place), cells_ - 1);
  const std::vector<double>& sum = sums_[group];
  return sum[cell] + (place - static_cast<double>(cell)) * (sum[cell + 1] - sum[cell]);
}

}  // namespace traceinject
