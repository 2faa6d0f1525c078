// SPDX-License-Identifier: Apache-2.0
// What ranks do to each other, as part of the report on a run of several.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/metrics/report/build_report.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

struct RankFindings {
  proto::Ranks ranks;                  // without rows: nothing was looked for
  std::vector<std::size_t> processes;  // of each of its rows: index into Run::ranks
};

// Of the whole run: of one rank, or where a part of it or some of its GPUs were asked for, nothing
// is looked for. O(events log events).
RankFindings FindBetweenRanks(const RunAnalysis& analysis);

// Fills Report.rank_findings. Hangs are left to Report.hung_operations.
void AddRankFindings(const RankFindings& found, Report& report);

}  // namespace traceinject
