// SPDX-License-Identifier: Apache-2.0
// An order of the rows of a table, as runs of rows that stand one behind the other in the table,
// too: where few rows are out of order it is short, and columns are copied run by run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceinject {

class RowOrder {
 public:
  struct Run {
    std::uint32_t first = 0, count = 0;  // rows, at least one
  };

  RowOrder() = default;
  explicit RowOrder(const std::vector<std::uint32_t>& rows) {
    for (const std::uint32_t row : rows) Append({row, 1});
  }

  // O(1) amortised.
  void Append(Run run) {
    size_ += run.count;
    if (!runs_.empty() && runs_.back().first + runs_.back().count == run.first) {
      runs_.back().count += run.count;
    } else {
      runs_.push_back(run);
    }
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::vector<Run>& runs() const { return runs_; }
  // The places between which rows of a table of this size move: all, unless the order is of all
  // rows and begins or ends as they stand.
  struct Moved {
    std::size_t begin = 0, end = 0;
  };
  Moved moved(std::size_t table_size) const {
    Moved moved{0, size_};
    if (size_ != table_size || empty()) return moved;
    if (runs_.front().first == 0) moved.begin = runs_.front().count;
    if (runs_.back().first + runs_.back().count == size_) moved.end = runs_.back().first;
    return moved;
  }
  // One by one. O(n).
  std::vector<std::uint32_t> rows() const {
    std::vector<std::uint32_t> rows;
    rows.reserve(size_);
    for (const Run& run : runs_) {
      for (std::uint32_t i = 0; i < run.count; ++i) rows.push_back(run.first + i);
    }
    return rows;
  }

 private:
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace traceinject
