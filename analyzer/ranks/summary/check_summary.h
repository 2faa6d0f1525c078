// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Times beyond this, either way, are none: 73 years. Differences and sums of two stay in 64 bits.
inline constexpr TimeNs kMaxTimeNs = TimeNs{1} << 61;
// More ranks than any job has, and more rows than any rank: numbers beyond are damage, and would
// cost memory or time.
inline constexpr int kMaxRanks = 1 << 24;
inline constexpr std::size_t kMaxRows = 200'000'000;

// Whether everything holds that rank_summary.h says, so that nobody else has to look. The error
// says what does not. O(rows).
Status CheckSummary(const RankSummary& summary);

// The same of all ranks of a job; the error begins with the path of the rank.
Status CheckJob(const Job& job);

}  // namespace traceinject
