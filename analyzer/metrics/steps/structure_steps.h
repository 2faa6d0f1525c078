// SPDX-License-Identifier: Apache-2.0
// Training steps of a program that marks none: found from what its GPU work repeats.
//
// Structure alone cannot tell a step from a micro-batch, a layer or a run of steps between two
// checkpoints: all of them repeat. What can is that every step updates the parameters the same
// number of times. Where no kernel looks like an optimizer, every step takes its data to the GPU,
// and exchanges gradients if the ranks do at all.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

struct StructureSteps {
  // On the host, where steps begin and end: one more than there are steps. The operations launched
  // from one of them on belong to the next step.
  std::vector<TimeNs> cuts;
  // 0 to 1: the least of how alike the steps are, how steady their number of launches is, how much
  // of the work they cover, how many kinds of work vote for them, and whether anything says that
  // they are steps and nothing else that repeats.
  double confidence = 0;
};

// Below this the steps are no better than a guess.
inline constexpr double kMinStepConfidence = 0.5;

// Steps end after the optimizer; without one before the first upload, else before the longest idle
// time. Empty: fewer than three, or too little speaks for them. O(operations + calls).
std::optional<StructureSteps> FindStructureSteps(const Rank& rank, const GpuOps& ops);

}  // namespace traceinject
