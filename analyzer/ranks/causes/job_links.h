// SPDX-License-Identifier: Apache-2.0
// What the links between ranks carry: bandwidths of transfers without skew, by the use of the
// groups and the kind of work, against the published rate of the link.
//
// algbw and busbw are those of nccl-tests. With NVLink SHARP (NVLS) the switches add up: busbw is
// no rate on the link then, and is held against none; as where it is above the link's rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/links/rank_link.h"
#include "analyzer/ranks/causes/link_rates.h"
#include "analyzer/ranks/causes/parallel_groups.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// A group whose transfers take longer than those of its like (UsualOf in link_rates.h).
struct OutlierGroup {
  std::size_t group = 0;  // matched
  double ratio = 1;       // to what is usual
  double busbw_gb_per_s = 0;
  std::string link;  // as ExpectedLink::name
};

struct JobLink {
  GroupUse use = GroupUse::kOther;
  LinkClass work;
  std::size_t groups = 0;
  std::int64_t count = 0;  // operations
  double bytes = 0;        // S, mean
  double total_ns = 0;     // of all transfers, each counted once
  // Median of the groups' medians.
  double transfer_ns = 0, algbw_gb_per_s = 0;
  // Absent: there is no definition for the function. The slowest and the fastest group.
  std::optional<double> busbw_gb_per_s, slowest_gb_per_s, fastest_gb_per_s;
  bool waiting_included = false;  // ranks of a group were not recorded: lower bounds
  ExpectedLink link;              // the slowest; without a name where groups have different ones
  std::optional<double> link_share;
  std::vector<OutlierGroup> outliers;  // the slowest first; none below kLatencyBoundBytes
};

// The link between the ranks of a group: the slowest of theirs.
ExpectedLink LinkOfGroup(const Job& job, const MatchedGroup& group);

// By total_ns, the largest first. `rates`: MeasureLinks(). O(rates log rates + members).
std::vector<JobLink> ListLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                               const LinkRates& rates, const std::vector<ParallelGroups>& uses);

}  // namespace traceinject
