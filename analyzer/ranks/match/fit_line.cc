// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/fit_line.h"

#include <algorithm>
#include <cmath>

#include "analyzer/common/median.h"

namespace traceinject {
namespace {

// A normal distribution's standard deviation over its median absolute deviation.
constexpr double kSigmaOfMad = 1.4826;
constexpr double kFarOff = 4;  // standard deviations

double MedianSlope(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t half = x.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < x.size() && half > 0; ++i) {
    if (x[i + half] > x[i]) slopes.push_back((y[i + half] - y[i]) / (x[i + half] - x[i]));
  }
  return slopes.size() < 3 ? 0 : Median(slopes);
}

}  // namespace

double Line::SigmaAt(double x) const { return std::hypot(y0_sigma, slope_sigma * (x - x0)); }

Line FitLine(const std::vector<double>& x, const std::vector<double>& y, double slope_prior,
             double least_spread) {
  Line line;
  const double rough_slope = MedianSlope(x, y), origin = x.front();
  std::vector<double> rest(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) rest[i] = y[i] - rough_slope * (x[i] - origin);
  std::vector<double> sorted = rest;
  const double level = Median(sorted);
  for (double& one : sorted) one = std::abs(one - level);
  line.spread = std::max(kSigmaOfMad * Median(sorted), least_spread);
  const double most = kFarOff * line.spread;
  double sum_x = 0, sum_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(rest[i] - level) > most) continue;
    ++line.points;
    sum_x += x[i] - origin;
    sum_y += rest[i];
  }
  const double count = static_cast<double>(line.points);
  line.x0 = origin + sum_x / count;
  const double mean = sum_y / count;
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(rest[i] - level) > most) continue;
    xx += (x[i] - line.x0) * (x[i] - line.x0);
    xy += (x[i] - line.x0) * (rest[i] - mean);
  }
  // What is known beforehand counts as one more measurement of the slope.
  const double variance = line.spread * line.spread;
  const double measured = xx / variance, expected = 1 / (slope_prior * slope_prior);
  const double least_squares = xx > 0 ? rough_slope + xy / xx : 0;
  line.slope = least_squares * measured / (measured + expected);
  line.slope_sigma = 1 / std::sqrt(measured + expected);
  line.y0 = mean + rough_slope * (line.x0 - origin);
  line.y0_sigma = std::sqrt(variance / count);
  return line;
}

double BendOf(const std::vector<double>& x, const std::vector<double>& y, const Line& line) {
  constexpr std::size_t kParts = 8, kMinPoints = 8;
  if (x.size() < kParts * kMinPoints) return 0;
  double bend = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<double> off;
    for (std::size_t i = part * x.size() / kParts; i < (part + 1) * x.size() / kParts; ++i)
      off.push_back(y[i] - line.At(x[i]));
    bend = std::max(bend, std::abs(Median(off)));
  }
  return bend;
}

}  // namespace traceinject
