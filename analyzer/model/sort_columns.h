// SPDX-License-Identifier: Apache-2.0
// Sorting a structure of arrays: one order, applied to every column.
#pragma once

#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Rows in the order of (start, end), rows that tie in their old order. Empty if they already stand
// so: nothing to apply. O(n) where most rows stand in order already or a few ordered tables follow
// each other, as recorded ones do; else O(n log n).
std::vector<std::uint32_t> SortedOrder(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end);

// The columns of a table put into order one after the other: what the one before leaves free holds
// the next, so that the system need not hand out memory for each.
class OrderedCopies {
 public:
  explicit OrderedCopies(const std::vector<std::uint32_t>& order) : order_(order) {}

  void Replace(std::vector<TimeNs>& column) { Gather(column, times_); }
  void Replace(std::vector<std::uint32_t>& column) { Gather(column, numbers_); }
  template <typename Column>
  void Replace(Column& column) {
    Column sorted;
    sorted.reserve(order_.size());
    for (const std::uint32_t row : order_) sorted.push_back(column[row]);
    column = std::move(sorted);
  }

 private:
  template <typename T>
  void Gather(std::vector<T>& column, std::vector<T>& room) const {
    const auto at = [&column](std::uint32_t row) -> const T& { return column[row]; };
    const auto values = std::views::transform(order_, at);
    room.assign(values.begin(), values.end());
    column.swap(room);
  }

  const std::vector<std::uint32_t>& order_;
  std::vector<TimeNs> times_;
  std::vector<std::uint32_t> numbers_;
};

// Puts columns into `order` (from SortedOrder). O(n) each.
template <typename... Columns>
void ApplyOrder(const std::vector<std::uint32_t>& order, Columns&... columns) {
  if (order.empty()) return;
  OrderedCopies copies(order);
  (copies.Replace(columns), ...);
}

}  // namespace traceinject
