// SPDX-License-Identifier: Apache-2.0
// Reports with steps and verdict: first all is found out, then the message is written.
#pragma once

#include <memory>
#include <vector>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"
#include "analyzer/verdict/add_rank_findings.h"

namespace traceinject {

struct DeviceAnalysis;
struct Judgement;
struct RunAnalysis;

// BuildReport() with Report.steps. O(events log events).
Report BuildReportWithSteps(const Run& run, const ReportOptions& options);

// BuildReport() of the steps that the verdict judges. As long as BuildReportWithVerdict().
Report BuildFiguresOfVerdict(const Run& run, const ReportOptions& options);

// With steps, verdict, and findings between ranks. Never fails. O(scenarios * events log events).
Report BuildReportWithVerdict(const Run& run, const ReportOptions& options);

// The same of an analysis with causes, its verdict, and what is known between its ranks. Its
// figures become those of the steps that the verdict is about.
Report WriteReport(RunAnalysis& analysis, const Judgement& judgement, const RankFindings& between);

// Likewise, with what it was written from.
struct JudgedReport {
  Report report;
  proto::Ranks ranks;                            // empty where nothing is looked for
  std::vector<const Device*> devices;            // as Report.devices
  std::shared_ptr<const DeviceAnalysis> judged;  // that the verdict is about; null: none
};
JudgedReport BuildJudgedReport(const Run& run, const ReportOptions& options);

}  // namespace traceinject
