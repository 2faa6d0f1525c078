// SPDX-License-Identifier: Apache-2.0
// Groups whose transfers take longer than those of their like, and what the slow ones have in
// common.
//
// Compared are the collectives of groups of one class (link_rates.h): of the same size and reach,
// for each function, size of message (within a power of two), algorithm and protocol. Messages that
// are bound by latency are left out, and so are groups with fewer than kMinTransfers of a class.
//
// Blamed are the ranks, or else the hosts or pairs of hosts, that all slow groups share and no fast
// group of their sizes has: first of the slow groups of all sizes together, and if these share
// nothing, of those of each size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/causes/link_rates.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct SlowGroups {
  std::vector<std::size_t> groups;  // matched groups that are slow
  int size = 0;                     // ranks in each
  std::string function;             // of the kind that takes most time on them
  std::int64_t bytes = 0;           // S of that kind
  double transfer_ns = 0;           // its median on the slow groups
  double usual_ns = 0;              // on the others
  double ratio() const { return usual_ns > 0 ? transfer_ns / usual_ns : 1; }
  // What the slow groups share and no fast one has; both empty: nothing does.
  std::vector<std::size_t> ranks;  // summaries
  std::vector<std::string> hosts;  // one, or two: the way between them
  JobSaving saving;                // with usual transfers
};

// By saving, the largest first. `rates`: MeasureLinks(). O(rates + plays).
std::vector<SlowGroups> FindSlowLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                                      const LinkRates& rates, const JobReplay& replay);

}  // namespace traceinject
