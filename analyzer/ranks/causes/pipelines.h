// SPDX-License-Identifier: Apache-2.0
// Pipeline stages, as the source tells them or found from who sends to whom, and what their bubbles
// cost.
//
// Ranks that exchange Send and Recv form a chain; its end that sends before it receives in a step
// holds the first stage. With p stages and m micro-batches a schedule that fills and drains once a
// step (GPipe, 1F1B) leaves (p - 1) / (m + p - 1) of the step empty on every rank (Narayanan et
// al., "Efficient Large-Scale Language Model Training on GPU Clusters", 2021, section 2.2). More
// than that means that the stages do not take the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ranks/causes/work_table.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/replay/job_steps.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct Pipelines {
  // Per summary: its stage, counted from 0; kNone: in no pipeline. All ranks of a stage have like
  // work, and those of different stages need not.
  std::vector<std::uint32_t> stage;
  std::size_t stages = 0;     // p; 0: there is no pipeline
  std::size_t pipelines = 0;  // chains side by side
  // m: of a first stage in a step, as told, else its sends; 0: not known.
  std::int64_t micro_batches = 0;
  // Mean over the regular steps and ranks, ns: with nothing to do but operations with ranks of
  // other stages (Send, Recv, and what ends a step on all of them).
  double bubble_ns = 0;
  double step_ns = 0;  // the mean of these steps; 0: there are none

  // Of the step. What is blocked may go on after it, and counts for it.
  double bubble_share() const { return step_ns > 0 ? std::min(1.0, bubble_ns / step_ns) : 0; }
  std::optional<double> ideal_bubble_share() const;
};

// O(operations).
Pipelines FindPipelines(const Job& job, const std::vector<MatchedGroup>& groups,
                        const JobSteps& steps);

// Own time of each stage in a regular step, as its ranks usually take, ns. O(ranks x steps).
std::vector<double> StageWork(const Pipelines& pipelines, const WorkTable& work);

}  // namespace traceinject
