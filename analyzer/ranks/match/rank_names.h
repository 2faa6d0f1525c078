// SPDX-License-Identifier: Apache-2.0
// What ranks and their communicators are called.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// "rank 3"; "rank 3 GPU 1" where the process drives several; "pid 4711 GPU 0" without a rank.
std::string RankName(const Job& job, std::size_t summary);
// "rank 3", "ranks 0-3, 7": of indices in any order. Without ranks the names one by one.
std::string RankNames(const Job& job, std::vector<std::size_t> summaries);
// "0x1000 (data_parallel)", by hash and name.
std::string CommunicatorName(const MatchedGroup& group);

}  // namespace traceinject
