// SPDX-License-Identifier: Apache-2.0
// Clocks against each other, and the way from one to all others on which least is uncertain.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/ranks/match/align_clocks.h"

namespace traceinject {

// The clock of rank `from` shows what `fit` turns into the time of rank `to`.
struct ClockEdge {
  std::size_t from = 0, to = 0;
  ClockFit fit;
};

// First `inner`, then `outer`.
ClockFit Composed(const ClockFit& outer, const ClockFit& inner);
ClockFit Inverse(const ClockFit& fit);

// The fits of all ranks that can be reached from the reference, to its clock. Edges lead both ways.
// O(edges log edges).
std::vector<ClockFit> FitsFrom(std::size_t reference, std::size_t ranks,
                               const std::vector<ClockEdge>& edges);

}  // namespace traceinject
