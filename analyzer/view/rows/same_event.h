// SPDX-License-Identifier: Apache-2.0
// Finds rows and events again in the same recording read anew, where their numbers differ.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// The row of the same process, group, kind and label; kNone: it is not there. O(rows).
std::uint32_t SameRow(const Run& from_run, const RowModel& from, std::uint32_t row, const Run& run,
                      const RowModel& model);

// The event of the same row that starts at the same moment under the same name. Its end may differ:
// of one that was still open only a part was known. O(rows + lanes x log events).
std::optional<EventRef> SameEvent(const Run& from_run, const RowModel& from, const EventRef& ref,
                                  const Run& run, const RowModel& model);

}  // namespace traceinject
