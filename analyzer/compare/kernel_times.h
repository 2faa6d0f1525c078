// SPDX-License-Identifier: Apache-2.0
// Kernels of the compared steps, by name and by what they were launched with.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/compare/compared_run.h"

namespace traceinject {

struct KernelKey {
  std::string name;
  std::array<std::int32_t, 3> grid = {}, block = {};  // 0: not recorded

  bool operator==(const KernelKey&) const = default;
  bool operator<(const KernelKey& other) const {
    return std::tie(name, grid, block) < std::tie(other.name, other.grid, other.block);
  }
};

struct KernelTimes {
  KernelClass kernel_class = KernelClass::kOther;
  std::int64_t launches = 0;
  TimeNs total_ns = 0;
  // In a mean step of each group of neighboring steps, in order: at most kMaxGroups.
  std::vector<double> step_ns;
};
inline constexpr std::size_t kMaxGroups = 500;

struct KernelsOfSteps {
  std::map<KernelKey, KernelTimes> kernels;
  std::size_t groups = 0;
};

// Kernels belong to the step in which they start; parallel ones count twice. O(operations + names x
// groups).
KernelsOfSteps TimesOfKernels(const ComparedRun& side);

}  // namespace traceinject
