// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/metrics/idle/process_label.h"
#include "analyzer/model/map_times.h"
#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/match/clock_account.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

// A file of several processes was merged, on one clock.
bool IsMerged(const Run& run) {
  return std::all_of(run.ranks.begin(), run.ranks.end(),
                     [&](const Rank& rank) { return rank.path == run.ranks.front().path; });
}

}  // namespace

bool IsOfSeveralHosts(const Run& run) {
  std::set<std::string_view> hosts;
  for (const Rank& rank : run.ranks) hosts.insert(rank.process.host);
  return hosts.size() > 1 || (run.ranks.size() > 1 && hosts.contains(""));
}

std::vector<std::string> AlignRun(Run& run) {
  if (!IsOfSeveralHosts(run)) return {};
  Job job;
  job.base_ns = run.base_ns;
  std::vector<std::size_t> first_of;  // per rank of the run: its first summary; none: the size
  for (const Rank& rank : run.ranks) {
    first_of.push_back(job.ranks.size());
    for (RankSummary& summary : SummarizeOperations(rank)) job.ranks.push_back(std::move(summary));
  }
  const ClockAlignment clocks = AlignClocks(job, MatchRanks(job));
  const bool is_merged = IsMerged(run);
  ClockAccount account;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    Rank& rank = run.ranks[r];
    const std::size_t next = r + 1 < run.ranks.size() ? first_of[r + 1] : job.ranks.size();
    if (first_of[r] == next) continue;  // it did no work
    const ClockFit& fit = clocks.ranks[first_of[r]];
    if (!fit.aligned) {
      account.AddNotAligned(fmt::format("the clock of {} could not be aligned: {}",
                                        ProcessLabel(run, rank), fit.reason));
      continue;
    }
    if (is_merged) {
      account.Add(fit, rank.clock_shift);
      continue;
    }
    const TimeNs middle = rank.start + (rank.end - rank.start) / 2;
    account.Add(fit, ToJob(fit, middle) - middle);
    MapTimes(rank, [&](TimeNs time) { return ToJob(fit, time); });
  }
  return account.Finish();
}

}  // namespace traceinject
