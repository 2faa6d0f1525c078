// SPDX-License-Identifier: Apache-2.0
// The steps of a job: which step of one rank is which of another. Ranks number their steps from
// where their recordings begin, and may have lost some.
//
// Two ranks agree on a step when the operations that they did together lie in it on both: the
// difference of the two numbers is what most of their common operations say. Ranks are joined along
// common groups, from the rank with the most steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct JobSteps {
  std::size_t count = 0;
  // Per summary: number in the job of its first step; empty: it has none, or shares no operation
  // with the others.
  std::vector<std::optional<std::size_t>> first;
  // Per step of the job: regular on most of the ranks that have it.
  std::vector<bool> regular;

  // The step of a rank that is this one of the job; null: it has none.
  const StepFacts* Find(const Job& job, std::size_t summary, std::size_t step) const;
  std::size_t count_regular() const;
};

// O(operations).
JobSteps NumberSteps(const Job& job, const std::vector<MatchedGroup>& groups);

}  // namespace traceinject
