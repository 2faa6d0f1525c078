// SPDX-License-Identifier: Apache-2.0
// Pipeline stages, found from who sends to whom, and what their bubbles cost.
//
// Ranks that exchange Send and Recv form a chain; its end that sends before it receives in a step
// holds the first stage. With p stages and m micro-batches a schedule that fills and drains once a
// step (GPipe, 1F1B) leaves (p - 1) / (m + p - 1) of the step empty on every rank (Narayanan et al.,
// "Efficient Large-Scale Language Model Training on GPU Clusters", 2021, section 2.2). More than
// that means that the stages do not take the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ranks/job_steps.h"
#include "analyzer/ranks/match_ranks.h"
#include "analyzer/ranks/own_time.h"
#include "analyzer/ranks/rank_summary.h"

namespace traceinject {

// Whether an operation is between two ranks: Send, Recv, or both in one kernel.
bool IsPointToPoint(const OperationKind& kind);

struct Pipelines {
  // Per summary: its stage, counted from 0; kNone: in no pipeline. All ranks of a stage have like
  // work, and those of different stages need not.
  std::vector<std::uint32_t> stage;
  std::size_t stages = 0;       // p; 0: there is no pipeline
  std::size_t pipelines = 0;    // chains side by side
  std::int64_t micro_batches = 0;  // m: sends of a first stage in a step; 0: not known
  // Mean over the regular steps and ranks, ns: waiting in Send and Recv with nothing else to do.
  double bubble_ns = 0;
  // Mean own time of a stage's ranks in a regular step, ns.
  std::vector<double> work_ns;

  std::optional<double> ideal_bubble_share() const;
};

// O(operations).
Pipelines FindPipelines(const Job& job, const std::vector<MatchedGroup>& groups,
                        const JobSteps& steps, const std::vector<OwnTime>& own);

}  // namespace traceinject
