// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "analyzer/model/run.h"

namespace traceinject {

struct KernelFlops {
  double flops = 0;
  std::optional<double> bytes;  // that have to be moved at least
};

// What kernels had to do, by row of the device's operations: those that alone compute what a call
// of a library asked for (kernel_work.h). O(calls + operations).
std::unordered_map<std::uint32_t, KernelFlops> FindKernelFlops(const Rank& rank,
                                                               const Device& device);

}  // namespace traceinject
