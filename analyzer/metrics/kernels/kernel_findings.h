// SPDX-License-Identifier: Apache-2.0
// What the names of kernels show that a setting may change: products of unaligned or fp32 matrices,
// kernels for older GPUs, attention in separate kernels, changes of layout, optimizers that launch
// many kernels. Each says what share of the kernel time it concerns; what of that would be saved is
// not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/kernels/kernels.h"
#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct KernelFinding {
  std::string_view name;  // "unaligned_products", "older_architecture", "fp32_products",
                          // "unfused_attention", "layout_changes", "single_optimizer",
                          // "foreach_optimizer"
  std::string_view what;  // as the beginning of a sentence
  std::string_view setting, change, source;  // as in a lever
  double threshold = 0;                      // of the kernel time; below it nothing is said
  std::int64_t kernels = 0;                  // launches
  TimeNs total_ns = 0;                       // of these
  double share = 0;                          // of all kernel time
  std::string example;                       // the name that most of that time is in
  TimeNs example_ns = 0;
  // Of kernels whose work is known, what they took longer than ideal: no setting can save more of
  // them. Empty: unknown of some of them, or not what the setting changes.
  std::optional<double> above_ideal_ns = std::nullopt;
};

// Of one device, the largest share first. O(names).
std::vector<KernelFinding> FindInKernels(const Rank& rank, const Device& device,
                                         const KernelTable& table, const MatrixProducts& products);

// Of several devices whose kernels took `total_ns` together: sums by name, those of every device.
std::vector<KernelFinding> MergeFindings(const std::vector<std::vector<KernelFinding>>& parts,
                                         TimeNs total_ns);

// What it is, its share and its time, in a sentence.
std::string DescribeFinding(const KernelFinding& finding);

}  // namespace traceinject
