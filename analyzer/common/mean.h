// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <vector>

namespace traceinject {

// 0 without values. O(n).
inline double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace traceinject
