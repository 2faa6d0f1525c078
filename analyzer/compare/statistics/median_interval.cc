// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/median_interval.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analyzer/compare/statistics/autocorrelation.h"
#include "analyzer/compare/statistics/mean_difference.h"

namespace traceinject {
namespace {

constexpr double kDeviations = 1.96;  // of a normal distribution: 95 % lie within

// At a share of the way from the least to the largest of sorted values.
double At(const std::vector<double>& sorted, double share) {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

MedianOfSteps MedianWithInterval(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  MedianOfSteps found{At(sorted, 0.5), std::nullopt};
  if (values.size() < kMinValues) return found;
  const double independent = static_cast<double>(values.size()) / ValuesForOne(values);
  const double half = kDeviations / 2 / std::sqrt(independent);
  found.interval = Bounds{At(sorted, 0.5 - half), At(sorted, 0.5 + half)};
  return found;
}

}  // namespace traceinject
