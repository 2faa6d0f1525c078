// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/model/run.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// What the analysis across ranks needs of a process: one summary for each device that did work, by
// ordinal. Of a recording in windows it is about one (ReportedPart). Times are on the clock and
// base of the rank. O(events log events).
std::vector<RankSummary> SummarizeRank(const Rank& rank);

// Only who it is and its operations: what clocks are aligned by. As many. O(operations log).
std::vector<RankSummary> SummarizeOperations(const Rank& rank);

}  // namespace traceinject
