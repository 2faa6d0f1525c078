// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of a step, as far as they are known.
#pragma once

#include <optional>

#include "analyzer/metrics/nvtx_steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of matrix products and attention calls whose kernels ran on the device in its steps, a mean step.
// Empty: no steps were found in the window, or neither was recorded. O(n).
std::optional<double> FlopsPerStep(const Rank& rank, const Device& device, Interval window,
                                   const StepPattern* pattern = nullptr);

}  // namespace traceinject
