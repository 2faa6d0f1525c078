// SPDX-License-Identifier: Apache-2.0
// The median of a series of steps, and how sure it is.
//
// The interval lies between two of the values themselves, so that nothing is assumed of how steps
// are distributed: of n independent values as many as Binomial(n, 1/2) lie below the median, which
// with 95 % is within n/2 -+ 1.96 sqrt(n)/2 (Conover, Practical Nonparametric Statistics, 3rd
// edition, 1999, 3.2). Neighboring steps resemble each other, so n is the number of values that
// would be independent (autocorrelation.h).
#pragma once

#include <optional>
#include <vector>

#include "analyzer/metrics/what_if/bootstrap.h"

namespace traceinject {

struct MedianOfSteps {
  double median = 0;
  std::optional<Bounds> interval;  // 95 %; empty: fewer than three values
};

// Of values in the order of time; 0 without any. O(n log n).
MedianOfSteps MedianWithInterval(const std::vector<double>& values);

}  // namespace traceinject
