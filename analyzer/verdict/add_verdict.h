// SPDX-License-Identifier: Apache-2.0
// The verdict and the steps as parts of the report.
#pragma once

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"
#include "analyzer/verdict/add_rank_findings.h"

namespace traceinject {

// Fills Report.verdict and Report.steps of a report that BuildReport() made with the same options.
// Of several devices the one that is judged is a late one, if that costs most of what ranks do to
// each other, else the one with the least exposed communication: it waits least for others, so the
// others wait for it. Never fails: without GPU work the verdict is
// inconclusive. O(scenarios * events log events).
void AddVerdict(const Run& run, const ReportOptions& options, const RankFindings& between,
                Report& report);

// Report.steps alone. O(events log events).
void AddSteps(const Run& run, const ReportOptions& options, Report& report);

// BuildReport() with the verdict.
Report BuildReportWithVerdict(const Run& run, const ReportOptions& options);

// Likewise, with what ranks tell of each other; empty where nothing is looked for.
struct RankedReport {
  Report report;
  proto::Ranks ranks;
};
RankedReport BuildRankedReport(const Run& run, const ReportOptions& options);

}  // namespace traceinject
