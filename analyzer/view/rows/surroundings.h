// SPDX-License-Identifier: Apache-2.0
// What a thread of the program was in at a moment.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// A moment on a thread of a process.
struct HostMoment {
  std::uint32_t rank = 0, thread = 0;  // indices into Run::ranks and Rank::threads
  TimeNs time = 0;
};

// The events of the thread's row of this kind that contain the moment, the outermost first: a stack
// where they nest. O(rows + lanes log n).
std::vector<EventRef> EventsAround(const RowModel& model, RowKind kind, const HostMoment& moment);

}  // namespace traceinject
