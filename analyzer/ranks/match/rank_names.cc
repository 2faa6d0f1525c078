// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/rank_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/text.h"

namespace traceinject {
namespace {

bool DrivesSeveral(const Job& job, const RankSummary& summary) {
  return std::count_if(job.ranks.begin(), job.ranks.end(), [&](const RankSummary& other) {
           return other.rank == summary.rank && other.pid == summary.pid &&
                  other.host == summary.host;
         }) > 1;
}

}  // namespace

std::string RankName(const Job& job, std::size_t summary) {
  const RankSummary& one = job.ranks[summary];
  if (one.rank < 0) return fmt::format("pid {} GPU {}", one.pid, one.device);
  if (DrivesSeveral(job, one)) return fmt::format("rank {} GPU {}", one.rank, one.device);
  return fmt::format("rank {}", one.rank);
}

std::string RankNames(const Job& job, std::vector<std::size_t> summaries) {
  std::sort(summaries.begin(), summaries.end());
  if (summaries.size() == 1) return RankName(job, summaries.front());
  const bool by_rank = std::all_of(summaries.begin(), summaries.end(), [&](std::size_t i) {
    return job.ranks[i].rank >= 0 && !DrivesSeveral(job, job.ranks[i]);
  });
  if (by_rank) {
    std::vector<int> ranks;
    for (const std::size_t i : summaries) ranks.push_back(job.ranks[i].rank);
    return "ranks " + NumberRanges(ranks);
  }
  std::string text;
  for (const std::size_t i : summaries) text += (text.empty() ? "" : ", ") + RankName(job, i);
  return text;
}

std::string CommunicatorName(const MatchedGroup& group) {
  return group.name.empty() ? fmt::format("0x{:x}", group.hash)
                            : fmt::format("0x{:x} ({})", group.hash, group.name);
}

}  // namespace traceinject
