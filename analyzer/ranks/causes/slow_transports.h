// SPDX-License-Identifier: Apache-2.0
// Ranks of one host whose GPUs have NVLink, and whose transfers come nowhere near its rate: NCCL
// goes through the host's memory or through sockets, or was told to use few channels or a protocol
// for small messages. slow_links.h compares groups with each other; where all are slow, or there is
// only one, the link itself is what they are held against.
//
// The rate is that of the large operations (kLargeMessageBytes) that all ranks of a group enter,
// over the shortest kernel of each: without waiting. NVLS is left out, whose busbw is no rate on
// the link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Of the published rate of NVLink in one direction. Healthy buckets of gradients beside a backward
// pass reach 40 to 50 % (DistributedDataParallel on two H200), ranks that do nothing else 80 %.
inline constexpr double kSlowTransportShare = 0.25;
inline constexpr double kReachedShare = 0.45;

struct SlowTransport {
  std::vector<std::size_t> ranks;               // summaries
  NcclTransport way = NcclTransport::kUnknown;  // the slowest of theirs
  std::vector<std::string> settings;            // RankSummary::nccl_settings of the first of them
  // Of the slow group that takes most time.
  std::string function, algorithm, protocol;
  std::int64_t bytes = 0;
  double busbw_gb_per_s = 0, link_gb_per_s = 0;
  JobSaving saving;  // at kReachedShare
};

// All slow groups as one: they have one cause as good as always. Empty: there is none.
// O(operations + plays).
std::optional<SlowTransport> FindSlowTransport(const Job& job,
                                               const std::vector<MatchedGroup>& groups,
                                               const WorkTable& work, const JobReplay& replay);

}  // namespace traceinject
