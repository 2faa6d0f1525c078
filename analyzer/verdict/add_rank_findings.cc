// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <utility>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

bool IsAboutAll(const ReportOptions& options) {
  return !options.limits.from_ns && !options.limits.to_ns && !options.steps &&
         !options.devices.rank && !options.devices.ordinal;
}

}  // namespace

RankFindings FindBetweenRanks(const Run& run, const ReportOptions& options) {
  RankFindings found;
  if (run.ranks.size() < 2 || !IsAboutAll(options)) return found;
  Job job;
  job.base_ns = run.base_ns;
  for (std::size_t process = 0; process < run.ranks.size(); ++process) {
    if (IsStopped(options.stop)) return {};
    for (RankSummary& summary : SummarizeRank(run.ranks[process])) {
      job.ranks.push_back(std::move(summary));
      found.processes.push_back(process);
    }
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
