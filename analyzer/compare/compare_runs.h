// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

using Comparison = proto::Comparison;

// Grows when a field of comparison.proto changes its meaning.
inline constexpr int kComparisonVersion = 1;

// Less than this share of a step is what two recordings of one program may differ by.
inline constexpr double kNegligibleShare = 0.01;

// What differs between two runs; both are changed by ChooseSameGpu(). Never fails: what cannot be
// compared is absent, with the reason in the conclusion or beside the field. Text is printable.
Comparison CompareRuns(ComparedRun& before, ComparedRun& after);

}  // namespace traceinject
