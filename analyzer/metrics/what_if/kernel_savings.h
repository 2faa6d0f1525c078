// SPDX-License-Identifier: Apache-2.0
// Kernels that would take less time if the program asked for the same in another way. Each cause is
// a list of operations with the time that they would take instead, for a replay (replay.h): what
// the run gets back is less where something else limits it.
//
//   low_precision_unused  product_savings.h
//   inefficient_gemm      product_savings.h
//   unfused_attention     attention_savings.h
//   memory_bound          fusion_savings.h
//   throttled             clock_savings.h
//
// The times instead are estimates from the work that is known and the published rates of the GPU,
// each chosen so that it is rather too long. What nobody could change is no saving: large,
// well-shaped products below the ideal rate keep their time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Products of models reach this share of what the best ones of benchmarks do (ReachedShare). Large
// ones of bf16 transformers on H200s: 87 to 100 % at full clock, 84 to 96 % at the power limit.
inline constexpr double kUsualShare = 0.85;

// Something to change that depends on what was recorded.
struct KernelAdvice {
  std::string setting, change;
  std::string_view source;
};

struct KernelSaving {
  std::string_view label;
  std::vector<OpLength> lengths;  // of the operations that would take another time; by row
  // How a line of evidence says it: "<what>: 12.0 a step, 5 ms; <instead> 1 ms".
  std::string what, instead;
  std::vector<std::string> facts;  // sentences about what is in them and what was assumed
  std::vector<KernelAdvice> advice;
  std::vector<TimeNs> saved_ns;  // per step: what they would take less
  // Rows of Rank::api, ascending: launches that there would not be.
  std::vector<std::uint32_t> gone;
};

// Those of the device in its steps that together could save `least_share` of the time of the steps:
// no others are worth a replay. O(operations + calls).
std::vector<KernelSaving> FindKernelSavings(const Rank& rank, const Device& device,
                                            const Steps& steps, double least_share);

// Those from the index `first` on. As a rule they stand in order already. O(n log n).
void SortByRow(std::vector<OpLength>& lengths, std::size_t first);

// The operations that start in the steps. O(log operations).
OpRange OpsOfSteps(const GpuOps& ops, const Steps& steps);

}  // namespace traceinject
