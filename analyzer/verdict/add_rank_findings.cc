// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <utility>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

bool IsAboutAll(const ReportOptions& options) {
  return !options.limits.from_ns && !options.limits.to_ns && !options.steps &&
         !options.devices.rank && !options.devices.ordinal;
}

}  // namespace

RankFindings FindBetweenRanks(const RunAnalysis& analysis) {
  RankFindings found;
  const Run& run = *analysis.run;
  if (run.ranks.size() < 2 || !IsAboutAll(analysis.options)) return found;
  Job job;
  job.base_ns = run.base_ns;
  for (const DeviceFigures& device : analysis.devices) {
    if (IsStopped(analysis.options.stop)) return {};
    const bool is_first = found.processes.empty() || found.processes.back() != device.rank_index;
    job.ranks.push_back(SummarizeDevice(device, is_first));
    found.processes.push_back(device.rank_index);
  }
  found.ranks = AnalyzeJob(job, {.collectives = 0, .lost_time = false});
  return found;
}

void AddRankFindings(const RankFindings& found, Report& report) {
  for (const proto::RankFinding& finding : found.ranks.findings()) {
    if (finding.name() == "hang") continue;
    proto::RankFinding& added = *report.add_rank_findings();
    added = finding;
    added.clear_rows();  // of a message that is not part of the report
  }
}

}  // namespace traceinject
