// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a communicator disagree on what they issued.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/match/operation_axis.h"

namespace traceinject {

// `group`: with the rows of all operations of the axis, also of those that one rank alone
// recorded. `order`: the place of each member in the axis. `kinds`: what the axis's numbers mean.
// O(rows).
std::vector<Mismatch> FindMismatches(const Job& job, const MatchedGroup& group,
                                     const OperationAxis& axis, std::span<const std::size_t> order,
                                     std::span<const OperationKind> kinds);

}  // namespace traceinject
