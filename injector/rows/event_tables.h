// SPDX-License-Identifier: Apache-2.0
// The rows of a batch by what becomes of them, and the counters that tell of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "injector/base/counters.h"
#include "injector/rows/rows.h"

namespace traceinject {

std::size_t EventRows(const Batch& batch);
// Rows that later events may refer to, of the tables that grow.
std::size_t DictionaryRows(const Batch& batch);

using CounterValues = std::array<std::int64_t, static_cast<std::size_t>(Health::kCount)>;
// The events, at the counters of those that are stored.
CounterValues RowsToStore(const Batch& batch);

// The batch was written.
void CountStored(const Batch& batch);
// Drops and counts all but the dictionary rows. The counters themselves will be told anew.
void DropEvents(Batch* batch);

}  // namespace traceinject
