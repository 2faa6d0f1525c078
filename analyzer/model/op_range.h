// SPDX-License-Identifier: Apache-2.0
// Some of a device's operations: neighbors, by their start.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Rows [begin, end) of a GpuOps.
struct OpRange {
  std::size_t begin = 0, end = 0;
};
using OpRanges = std::vector<OpRange>;  // disjoint

// The operations that belong to the window: those that start in it. An operation without length at
// the very end of the device's span belongs to the window that ends there. O(log n).
OpRange StartingIn(const GpuOps& ops, Interval window);
// The same of each, in order.
OpRanges StartingIn(const GpuOps& ops, const Intervals& windows);

}  // namespace traceinject
