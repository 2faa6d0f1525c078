// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <utility>

#include "analyzer/ranks/analyse_job.h"
#include "analyzer/ranks/summarise_rank.h"

namespace traceinject {
namespace {

bool IsAboutAll(const ReportOptions& options) {
  return !options.limits.from_ns && !options.limits.to_ns && !options.steps &&
         !options.devices.rank && !options.devices.ordinal;
}

}  // namespace

void AddRankFindings(const Run& run, const ReportOptions& options, Report& report) {
  if (run.ranks.size() < 2 || !IsAboutAll(options)) return;
  Job job;
  job.base_ns = run.base_ns;
  for (const Rank& rank : run.ranks) {
    if (IsStopped(options.stop)) return;
    for (RankSummary& summary : SummariseRank(rank)) job.ranks.push_back(std::move(summary));
  }
  const proto::Ranks ranks = AnalyseJob(job, {.collectives = 0});
  for (const proto::RankFinding& finding : ranks.findings()) {
    if (finding.name() == "hang") continue;
    proto::RankFinding& added = *report.add_rank_findings();
    added = finding;
    added.clear_rows();  // of a message that is not part of the report
  }
}

}  // namespace traceinject
