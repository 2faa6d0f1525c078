// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/model/packed_column.h"

namespace traceinject {

// Calls visit(row, value) for the rows [first, last) of a column, in order: a block at a time,
// which takes half as long as its iterators.
template <typename T, typename Visit>
void ForEachValueIn(const PackedColumn<T>& column, std::size_t first, std::size_t last,
                    Visit visit) {
  constexpr std::size_t kBlock = PackedColumn<T>::kBlock;
  std::array<T, kBlock> values;
  for (std::size_t block = first / kBlock * kBlock; block < last; block += kBlock) {
    column.UnpackBlock(block, values);
    const std::size_t end = std::min(last, block + kBlock);
    for (std::size_t i = std::max(first, block); i < end; ++i)
      visit(static_cast<std::uint32_t>(i), values[i - block]);
  }
}

// The same for all of it.
template <typename T, typename Visit>
void ForEachValue(const PackedColumn<T>& column, Visit visit) {
  ForEachValueIn(column, 0, column.size(), visit);
}

}  // namespace traceinject
