// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/autocorrelation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analyzer/common/mean.h"

namespace traceinject {
namespace {

constexpr double kMaxCorrelation = 0.9;
constexpr double kSpare = 0.4;  // standard errors

double Autocorrelation(const std::vector<double>& values) {
  const double count = static_cast<double>(values.size()), middle = Mean(values);
  double square = 0, product = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - middle) * (values[i] - middle);
    if (i > 0) product += (values[i] - middle) * (values[i - 1] - middle);
  }
  if (square <= 0) return 0;
  const double found = product / square;
  return std::clamp(found + (1 + 4 * found) / count + kSpare / std::sqrt(count), 0.0,
                    kMaxCorrelation);
}

}  // namespace

double ValuesForOne(const std::vector<double>& values) {
  const double correlation = Autocorrelation(values);
  return (1 + correlation) / (1 - correlation);
}

}  // namespace traceinject
