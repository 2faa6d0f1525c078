// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/model/run.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// What the analysis across ranks needs of a process: one summary for each device that did work, by
// ordinal. Of a recording in windows it is about one (ReportedPart). Times are on the clock and
// base of the rank. O(events log events).
std::vector<RankSummary> SummarizeRank(const Rank& rank);

// The same of a device that was analyzed already; of the first of a process what hangs on the host
// alone, too.
RankSummary SummarizeDevice(const DeviceAnalysis& found, bool is_first);

// Only who it is and its operations: what clocks are aligned by. As many. O(operations log).
std::vector<RankSummary> SummarizeOperations(const Rank& rank);

}  // namespace traceinject
