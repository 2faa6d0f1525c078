// SPDX-License-Identifier: Apache-2.0
// Memory that the program took from CUDA and gave back: how often, how much, how long it took. A
// training loop that does so in every step works around its caching allocator, or fights for room.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct MemoryCalls {
  // Of memory of the device, managed memory among it.
  std::int64_t allocations = 0, releases = 0, allocated_bytes = 0;
  // Most that was held at one time in the windows, of what was allocated while recording.
  std::int64_t peak_bytes = 0;
  // Of pinned memory of the host.
  std::int64_t host_allocations = 0, host_releases = 0, host_bytes = 0;
  TimeNs call_ns = 0;  // in the calls, where those were recorded

  bool any() const { return allocations + releases + host_allocations + host_releases > 0; }
};

// Those on the device of this ordinal in the windows (at least one). O(operations + calls).
MemoryCalls CountMemoryCalls(const Rank& rank, int ordinal, const Intervals& windows);

// Sums; of the peaks the largest.
MemoryCalls MergeMemoryCalls(const std::vector<MemoryCalls>& parts);

}  // namespace traceinject
