// SPDX-License-Identifier: Apache-2.0
// How much of a wait nothing else hid. A summary tells how long an operation ran alone on the GPU,
// not when.
#pragma once

#include "analyzer/model/intervals.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// When operations of the rank ran beside which, all their time, nothing computed.
Intervals TimesAlone(const RankSummary& rank);

// Of the first `wait_ns` of an operation, how long nothing computed. It is known where the rank
// went through operations that ran alone; the rest of what was exposed is taken to be the end of
// the operation. O(log n + the operations that ran alone beside it).
TimeNs ExposedWait(const GroupOperations& group, std::size_t row, TimeNs wait_ns,
                   const Intervals& alone);

}  // namespace traceinject
