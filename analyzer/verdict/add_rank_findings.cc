// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <fmt/format.h>

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
  // The verdict is about one rank.
  if (report.rank_findings_size() > 0 && report.has_verdict() &&
      report.rank_findings(0).saved_ns() > report.verdict().saved_ns())
    report.mutable_verdict()->add_caveats(fmt::format(
        "this is about one GPU alone; what ranks do to each other ({}) costs a step more",
        report.rank_findings(0).name()));
}

}  // namespace traceinject
