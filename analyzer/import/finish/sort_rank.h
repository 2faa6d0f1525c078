// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Sorts every column of events by (start, end), devices by ordinal. For readers, before
// JoinLaunches, which fills the one column that this leaves alone, GpuOps::launch. O(n log n).
void SortRank(Rank& rank);

// The last that is known of the process: the end of an event, or a look at its clocks; rank.start
// if there is none. O(n).
TimeNs LastTimeSeen(const Rank& rank);

}  // namespace traceinject
