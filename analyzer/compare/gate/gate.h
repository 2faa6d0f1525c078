// SPDX-License-Identifier: Apache-2.0
// Whether a run meets conditions, and is no worse than a baseline.
#pragma once

#include <vector>

#include "analyzer/compare/compare_runs.h"
#include "analyzer/compare/gate/condition.h"

namespace traceinject {

using GateResult = proto::GateResult;

struct GateOptions {
  std::vector<Condition> conditions;
  std::vector<const Figure*> compared;  // with the baseline
  // A figure may be worse by so much: times as a share of the baseline's step, shares by so many
  // points, others as a share of themselves.
  double tolerance = 0.03;
  bool allow_unknown = false;
};

// Empty, or why noise cannot be told from a change of the figure.
std::string_view WhyNotCompared(const Figure& figure);

// `baseline` null: there is none, and nothing is compared. Worse than the baseline is a figure
// beyond the tolerance whose interval excludes noise. Both runs are changed by ChooseSameGpu().
// Text is printable.
GateResult JudgeRun(ComparedRun& run, ComparedRun* baseline, const GateOptions& options);

}  // namespace traceinject
