// SPDX-License-Identifier: Apache-2.0
// A straight line through points of which some are far off.
#pragma once

#include <cstddef>
#include <vector>

namespace traceinject {

struct Line {
  double x0 = 0;  // middle of the points
  double y0 = 0;  // the line there
  double slope = 0;
  double y0_sigma = 0, slope_sigma = 0;  // standard errors
  double spread = 0;                     // robust standard deviation of a point
  std::size_t points = 0;                // near enough to count

  double At(double x) const { return y0 + slope * (x - x0); }
  double SigmaAt(double x) const;
};

// Theil and Sen's median of slopes, over points half the list apart, shows which points are far
// off; least squares over the others. Slopes are expected to be 0 +- slope_prior, which is all that
// // few or close points say of it, and the spread is no less than least_spread. `x` ascends; at
// least one point. O(n).
Line FitLine(const std::vector<double>& x, const std::vector<double>& y, double slope_prior,
             double least_spread);
// By how much the points leave the line for some time: the largest median of an eighth of them.
double BendOf(const std::vector<double>& x, const std::vector<double>& y, const Line& line);

}  // namespace traceinject
