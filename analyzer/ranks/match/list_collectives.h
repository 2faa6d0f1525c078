// SPDX-License-Identifier: Apache-2.0
// The operations worth looking at: the longest, the most exposed, and those to which ranks came
// furthest apart.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// Adds up to `rows` of each to Ranks.collectives, by start, each once. All ends of an operation are
// one moment, so that the longest kernel is that of the rank that came first and the shortest that
// of the last: no common clock is needed. O(rows of the groups).
void ListCollectives(const Job& job, const std::vector<MatchedGroup>& groups, std::size_t rows,
                     proto::Ranks& to);

}  // namespace traceinject
