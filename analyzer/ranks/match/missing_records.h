// SPDX-License-Identifier: Apache-2.0
// When ranks were blocked by operations of which their records were lost. Without that, waiting for
// others looks like work of their own.
#pragma once

#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Per summary. An operation that blocked most of the ranks that recorded it blocked the one that
// did not: until its end there, which the other operations of the communicator tell, and as long as
// the GPU was idle in that step beyond what it is in most. O(rows + steps).
std::vector<Intervals> FindMissingBlocks(const Job& job, const std::vector<MatchedGroup>& groups);

}  // namespace traceinject
