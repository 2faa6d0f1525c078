// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/student_t.h"

#include <cmath>

namespace traceinject {
namespace {

constexpr int kMaxTerms = 1000;
constexpr double kNearly = 1e-14;
constexpr double kTiny = 1e-300;

// The continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz's method.
double BetaFraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::abs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double fraction = d;
  const auto next = [&](double numerator) {
    d = 1 + numerator * d;
    if (std::abs(d) < kTiny) d = kTiny;
    d = 1 / d;
    c = 1 + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    fraction *= d * c;
    return d * c;
  };
  for (int m = 1; m < kMaxTerms; ++m) {
    next(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    const double last = next(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::abs(last - 1) < kNearly) break;
  }
  return fraction;
}

// The regularised incomplete beta function, DLMF 8.17.
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // It converges fast on this side; the other follows by symmetry.
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

}  // namespace

double TwoSidedP(double t, double degrees) {
  return IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double TwoSidedT(double p, double degrees) {
  double low = 0, high = 1;
  while (TwoSidedP(high, degrees) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-10 * high; ++i) {
    const double middle = (low + high) / 2;
    (TwoSidedP(middle, degrees) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace traceinject
