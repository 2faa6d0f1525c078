// SPDX-License-Identifier: Apache-2.0
// Sorting a structure of arrays: one order, applied to every column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/model/packed_column.h"
#include "analyzer/model/row_order.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Rows in the order of (start, end), rows that tie in their old order. Empty if they already stand
// so: nothing to apply. O(n) where most rows stand in order already or a few ordered tables follow
// each other, as recorded ones do; else O(n log n).
RowOrder SortedOrder(const TimeColumn& start, const TimeColumn& end);
RowOrder SortedOrder(const std::vector<TimeNs>& start, const std::vector<TimeNs>& end);

// The columns of a table put into order one after the other: what the one before leaves free holds
// the next, so that the system need not hand out memory for each.
class OrderedCopies {
 public:
  explicit OrderedCopies(const RowOrder& order) : order_(order) {}

  void Replace(std::vector<TimeNs>& column) { Gather(column, times_); }
  void Replace(std::vector<std::uint32_t>& column) { Gather(column, numbers_); }
  template <typename T>
  void Replace(std::vector<T>& column) {
    std::vector<T> room;
    Gather(column, room);
  }
  template <typename T>
  void Replace(PackedColumn<T>& column) {
    Rebuild(column);
  }
  void Replace(TimeColumn& column) { Rebuild(column); }
  void Replace(IndexColumn& column) { Rebuild(column); }

 private:
  template <typename Column>
  void Rebuild(Column& column) const {
    Column sorted;
    sorted.reserve(order_.size());
    for (const RowOrder::Run& run : order_.runs()) sorted.Append(column, run.first, run.count);
    column = std::move(sorted);
  }
  template <typename T>
  void Gather(std::vector<T>& column, std::vector<T>& room) const {
    const RowOrder::Moved moved = order_.moved(column.size());
    room.clear();
    room.reserve(moved.end - std::min(moved.begin, moved.end));
    std::size_t place = 0;
    for (const RowOrder::Run& run : order_.runs()) {
      const auto first = column.begin() + run.first;
      if (place >= moved.begin && place < moved.end)
        room.insert(room.end(), first, first + run.count);
      place += run.count;
    }
    if (room.size() == order_.size()) return column.swap(room);
    std::copy(room.begin(), room.end(), column.begin() + static_cast<std::ptrdiff_t>(moved.begin));
  }

  const RowOrder& order_;
  std::vector<TimeNs> times_;
  std::vector<std::uint32_t> numbers_;
};

// Puts columns into `order` (from SortedOrder). O(n) each.
template <typename... Columns>
void ApplyOrder(const RowOrder& order, Columns&... columns) {
  if (order.empty()) return;
  OrderedCopies copies(order);
  (copies.Replace(columns), ...);
}

// The same for a list of rows; those that are not in it are left out.
template <typename... Columns>
void ApplyOrder(const std::vector<std::uint32_t>& rows, Columns&... columns) {
  ApplyOrder(RowOrder(rows), columns...);
}

}  // namespace traceinject
