// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/model/packed_column.h"

namespace traceinject {

// Calls visit(row, value) for all of a column, in order: a block at a time, which takes half as
// long as its iterators.
template <typename T, typename Visit>
void ForEachValue(const PackedColumn<T>& column, Visit visit) {
  std::array<T, PackedColumn<T>::kBlock> values;
  for (std::size_t first = 0; first < column.size(); first += values.size()) {
    const std::size_t count = column.UnpackBlock(first, values);
    for (std::size_t i = 0; i < count; ++i) visit(static_cast<std::uint32_t>(first + i), values[i]);
  }
}

}  // namespace traceinject
