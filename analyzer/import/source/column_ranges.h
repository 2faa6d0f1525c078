// SPDX-License-Identifier: Apache-2.0
// What the columns of a run.db can hold. A value that no recorder writes is of a damaged file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace traceinject {

// Both ends can be. Times and lengths have a rule of their own (RunDbRows::Times), ids are looked
// up.
struct ColumnRange {
  std::string_view column;
  int index = 0;  // among those that are read
  std::int64_t least = 0, most = 0;
};

// Of the columns ("start, dur, bytes") that are read of a table those whose range is known, in
// their order. O(columns x ranges).
std::vector<ColumnRange> RangesOf(std::string_view table, std::string_view columns);

// Of what another profiler tells: the bytes that a copy or memset moved, and those of the shared
// memory of a block. 0 for what cannot be.
std::int64_t MovedBytes(std::int64_t told);
std::int64_t SharedBytes(std::int64_t told);

}  // namespace traceinject
