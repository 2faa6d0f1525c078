// SPDX-License-Identifier: Apache-2.0
// Who a job loses its time to: what-if plays of one cause at a time, as in StragglerAnalysis
// (ByteDance, "Understanding Stragglers in Large Model Training Using What-if Analysis", 2025).
//
// Ideal is a job in which no rank takes longer than is usual for ranks with like work, nor longer
// for one micro-batch than for another, no stage of a pipeline longer than the mean of all stages,
// and no group longer for its transfers than its like (link_rates.h). What is lost is the step
// minus that of the ideal job. Of a cause (a rank, the ranks of a stage or host, the groups of one
// use)
//   rem  is the share that comes back if this one is ideal, and the rest as recorded;
//   add  is the share that is lost if this one is as recorded, and all else ideal.
// Where they are far apart, causes hide one another. Shares of several causes need not add up to 1.
//
// "As recorded" leaves out what work took longer beside waits for others (work_table.h), so that a
// cause is not short of what the others lose by waiting for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/ranks/causes/link_rates.h"
#include "analyzer/ranks/causes/parallel_groups.h"
#include "analyzer/ranks/causes/pipelines.h"
#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/replay/work_pieces.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Below this share of the step there is nothing to share out.
inline constexpr double kMinLostShare = 0.02;
// Ranks and hosts that are played one by one: of these the worst share, but so many where there
// are.
inline constexpr double kWorstShare = 0.03;
inline constexpr std::size_t kMinWorst = 8;
// Rows that are played for all causes together (a play costs all rows of the replay), so that large
// jobs are played for fewer causes: 4 s on one core.
inline constexpr std::size_t kMaxPlayedRows = 400'000'000;

struct LostCause {
  enum class Kind : std::uint8_t { kRank, kStage, kHost, kGroups };
  Kind kind = Kind::kRank;
  // kRank: a summary; kStage: from 0; kHost: a summary on it; kGroups: of the uses.
  std::size_t index = 0;
  std::vector<std::size_t> ranks;  // summaries; of groups none
  double rem = 0, add = 0;
};

struct LostTime {
  double ideal_ns = 0, lost_ns = 0;  // of a mean step
  std::vector<LostCause> causes;     // by rem, the largest first
  std::size_t ranks_played = 0;      // one by one: those furthest over their peers
  // The worst kWorstShare of the ranks, and rem of them together (M_W of StragglerAnalysis).
  std::size_t worst_ranks = 0;
  double worst_rem = 0;
};

// Without causes where next to nothing is lost. `uses`: FindParallelGroups(), `rates`:
// MeasureLinks(). O(plays x rows), at most kMaxPlayedRows.
LostTime FindLostTime(const Job& job, const std::vector<MatchedGroup>& groups,
                      const WorkTable& work, const WorkPieces& pieces, const Pipelines& pipelines,
                      const std::vector<double>& stage_work,
                      const std::vector<ParallelGroups>& uses, const LinkRates& rates,
                      const JobReplay& replay);

}  // namespace traceinject
