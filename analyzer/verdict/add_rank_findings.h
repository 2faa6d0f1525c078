// SPDX-License-Identifier: Apache-2.0
// What ranks do to each other, as part of the report on a run of several.
#pragma once

#include "analyzer/metrics/build_report.h"

namespace traceinject {

// Fills Report.rank_findings, of the whole run: nothing where a part of it or some of its GPUs were
// asked for. Hangs are left to Report.hung_operations. O(events log events).
void AddRankFindings(const Run& run, const ReportOptions& options, Report& report);

}  // namespace traceinject
