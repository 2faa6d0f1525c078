// SPDX-License-Identifier: Apache-2.0
// Calls of one kind on the threads of a process, and the CUDA calls that were made inside them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// For each row of rank.api the row of the call around it, by thread and start; kNone: none. The
// calls are given as columns, sorted by start; those of one thread do not nest. O(calls + api).
std::vector<std::uint32_t> CallAround(const Rank& rank, const TimeColumn& start,
                                      const TimeColumn& end, const IndexColumn& thread);

// What no device can claim is counted with this one.
bool IsFirstAtWork(const Rank& rank, const Device& device);

}  // namespace traceinject
