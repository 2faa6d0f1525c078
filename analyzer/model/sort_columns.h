// SPDX-License-Identifier: Apache-2.0
// Sorting a structure of arrays: one order, applied to every column.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Rows in the order of (start, end), rows that tie in their old order. Empty if they already stand
// so: nothing to apply. O(n) where most rows stand in order already or a few ordered tables follow
// each other, as recorded ones do; else O(n log n).
std::vector<std::uint32_t> SortedOrder(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end);

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
