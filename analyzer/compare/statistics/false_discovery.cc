// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/false_discovery.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace traceinject {

std::vector<double> AdjustedP(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 1;
  // From the largest on: each is at most as large as the next larger one is after adjustment.
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto count = static_cast<double>(p.size());
    least = std::min(least, p[order[i]] * count / (count - static_cast<double>(i)));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace traceinject
