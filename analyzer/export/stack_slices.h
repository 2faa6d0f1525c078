// SPDX-License-Identifier: Apache-2.0
// Sampled stacks as slices of time, for traces in which slices nest.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/places/looks.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of a stack, the outermost frame first: indexes into Rank::places.
std::vector<std::uint32_t> PlacesOfStack(const Rank& rank, std::uint32_t stack);

struct StackSlice {
  std::uint32_t place = kNone;
  Interval time;
};

// By start, callers before those that they called; each lies within its caller. A frame goes on
// from look to look as long as it and its callers stay the same, and nobody missed more than a few
// looks. `period`: of the looks; 0: not known, and nothing counts as missed. O(looks * depth).
std::vector<StackSlice> SlicesOfLooks(const Rank& rank, const LookRuns& looks, TimeNs period);

}  // namespace traceinject
