// SPDX-License-Identifier: Apache-2.0
// Sorting a structure of arrays: one order, applied to every column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Rows in the order of (start, end), rows that tie in their old order. Empty if they already stand
// so: nothing to apply. O(n log n).
inline std::vector<std::uint32_t> SortedOrder(const std::vector<TimeNs>& start,
                                              const std::vector<TimeNs>& end) {
  struct Key {
    TimeNs start;
    std::uint32_t row;
  };
  const auto before = [&](const Key& a, const Key& b) {
    if (a.start != b.start) return a.start < b.start;
    if (end[a.row] != end[b.row]) return end[a.row] < end[b.row];
    return a.row < b.row;
  };
  std::vector<Key> keys(start.size());
  for (std::uint32_t row = 0; row < keys.size(); ++row) keys[row] = {start[row], row};
  if (std::is_sorted(keys.begin(), keys.end(), before)) return {};
  std::sort(keys.begin(), keys.end(), before);
  std::vector<std::uint32_t> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].row;
  return order;
}

// Puts columns into `order` (from SortedOrder). O(n) each.
template <typename... Columns>
void ApplyOrder(const std::vector<std::uint32_t>& order, Columns&... columns) {
  if (order.empty()) return;
  const auto apply = [&order](auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t row : order) sorted.push_back(column[row]);
    column = std::move(sorted);
  };
  (apply(columns), ...);
}

}  // namespace traceinject
