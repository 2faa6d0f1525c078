// SPDX-License-Identifier: Apache-2.0
// Rows on their way into columns, some at a time: a value that is added to its column by itself
// asks whether there is room, and a row has many.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/model/index_column.h"
#include "analyzer/model/packed_column.h"
#include "analyzer/model/time_column.h"

namespace traceinject {

inline constexpr std::size_t kBatchRows = 256;

// One column of a batch.
template <typename T>
using BatchColumn = std::array<T, kBatchRows>;

// The first `rows` values.
template <typename T>
void AppendBatch(const BatchColumn<T>& batch, std::size_t rows, std::vector<T>& column) {
  column.insert(column.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(rows));
}
template <typename T>
void AppendBatch(const BatchColumn<T>& batch, std::size_t rows, PackedColumn<T>& column) {
  column.Append(std::span(batch).first(rows));
}
inline void AppendBatch(const BatchColumn<IndexColumn::value_type>& batch, std::size_t rows,
                        IndexColumn& column) {
  column.Append(std::span(batch).first(rows));
}
inline void AppendBatch(const BatchColumn<TimeColumn::value_type>& batch, std::size_t rows,
                        TimeColumn& column) {
  column.Append(std::span(batch).first(rows));
}

}  // namespace traceinject
