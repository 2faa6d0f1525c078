// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of a step, as far as they are known, and what share of the GPU's peak
// rate they are: hardware FLOPs utilization (HFU; Korthikanti et al., "Reducing Activation
// Recomputation in Large Transformer Models", section 6: everything that is computed counts, what
// is computed again for the backward pass too).
//
// A lower bound: convolutions (but in traces of torch.profiler with shapes), compiled code and
// replays of CUDA graphs have no known operations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/calls/library_calls.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct StepFlops {
  double flops = 0;    // of GEMMs and attention calls, a mean judged step
  double step_ns = 0;  // a mean judged step from its start to the start of the next
  // Sum over the types of (their operations / their dense peak rate) / step_ns. Empty: see reason.
  std::optional<double> peak_share = std::nullopt;
  std::string reason = {};
};

// The rate that a product is limited by; empty: there is none, or the recording does not report:
// cuBLAS leaves TF32 for fp32 to the mode of its handle, cuBLASLt to the compute type.
std::optional<PeakDtype> PeakDtypeOf(const GemmShape& shape, std::string_view function);

// Of products and calls whose kernels ran on the device in its judged steps: warm-up, evaluation
// and checkpoints would only blur what a step of training needs. Empty: no steps were found, or
// neither was recorded. Above 100 % of the peak no share is given. O(n).
std::optional<StepFlops> FlopsOfSteps(const Rank& rank, const Device& device,
                                      const LibraryCalls& calls, const Steps& steps);

// Of a step of all devices: operations add up, time and share are means. Empty unless all are
// known.
std::optional<StepFlops> SumOfDevices(const std::vector<std::optional<StepFlops>>& devices);

}  // namespace traceinject
