// SPDX-License-Identifier: Apache-2.0
// Kernels of the compared steps, by name and by what they were launched with.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/compare/compared_run.h"

namespace traceinject {

struct KernelKey {
  std::string name;
  std::array<std::int32_t, 3> grid = {}, block = {};  // 0: not recorded

  auto operator<=>(const KernelKey&) const = default;
};

struct KernelTimes {
  KernelClass kernel_class = KernelClass::kOther;
  std::int64_t launches = 0;
  TimeNs total_ns = 0;
  // In a mean step of each group of neighbouring steps, in order: at most kMostGroups.
  std::vector<double> step_ns;
};
inline constexpr std::size_t kMostGroups = 500;

struct KernelsOfSteps {
  std::map<KernelKey, KernelTimes> kernels;
  std::size_t groups = 0;
};

// Kernels belong to the step in which they start; parallel ones count twice. O(operations + names x
// groups).
KernelsOfSteps TimesOfKernels(const ComparedRun& side);

}  // namespace traceinject
