// SPDX-License-Identifier: Apache-2.0
// Rows on their way into columns, some at a time: a value that is added to its column by itself
// asks whether there is room, and a row has many.
#pragma once

#include <array>
#include <cstddef>
#include <ranges>
#include <span>
#include <vector>

#include "analyzer/model/packed_column.h"

namespace traceinject {

template <typename Row>
class RowBatch {
 public:
  // A new row, with what an older one had, of a batch that is not full. To be filled in where it
  // is: to build it elsewhere and to copy it takes longer than all else that is done with it here.
  Row& Add() { return rows_[count_++]; }
  bool full() const { return count_ == rows_.size(); }
  bool empty() const { return count_ == 0; }
  void Clear() { count_ = 0; }

  // Appends a field of all rows to its column.
  template <typename T>
  void AppendTo(std::vector<T>& column, T Row::*field) const {
    const auto values = std::views::transform(std::span(rows_).first(count_), field);
    column.insert(column.end(), values.begin(), values.end());
  }
  template <typename T>
  void AppendTo(PackedColumn<T>& column, T Row::*field) const {
    for (std::size_t i = 0; i < count_; ++i) column.push_back(rows_[i].*field);
  }

 private:
  std::array<Row, 256> rows_;
  std::size_t count_ = 0;
};

}  // namespace traceinject
