// SPDX-License-Identifier: Apache-2.0
// What is behind conditions that failed, in a sentence.
#pragma once

#include <string>

#include "analyzer/compare/compare_runs.h"

namespace traceinject {

// What got slower most since the baseline (parts of the step, kernels) with what else differs, and
// what limits the run with what to change first. `comparison`: empty without a baseline.
std::string CauseSentence(const Report& report, const Comparison& comparison);

}  // namespace traceinject
