// SPDX-License-Identifier: Apache-2.0
// What sampled hardware counters show of the kernels that a verdict is about.
//
// Of each counter the mean over the time of those that have it, with the standard errors of its
// parts (errors of kernels of different names are taken to be independent). Nothing where that is
// less than half of their time. They do not choose the label: a caveat says where they speak
// against it by more than three standard errors, whatever the kernels without the counter do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/metrics/what_if/kernel_savings.h"

namespace traceinject {

struct CounterEvidence {
  std::string text;    // empty: the counters do not tell, or not of such a label
  std::string caveat;  // empty: they do not speak against it
};

// Only of memory_bound, inefficient_gemm, low_precision_unused and throttled. O(operations).
CounterEvidence CounterEvidenceOf(const DeviceFigures& figures, const KernelSaving& saving);

// Of the kernels with most time, where the counters tell what holds them up: "hardware counters:
// sm90_gemm, 12.31 ms a step: at the limit of the tensor cores (tensor cores busy 91.2 % ± 0.3 %,
// at 1410 of 1830 MHz); ...". Empty: they do not. `steps`: of how many the figures are. O(kernels
// log kernels).
std::string KernelLimitsOf(const DeviceFigures& figures, double steps);

}  // namespace traceinject
