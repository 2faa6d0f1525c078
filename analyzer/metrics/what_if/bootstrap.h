// SPDX-License-Identifier: Apache-2.0
// Intervals for a mean over steps, by drawing steps again and again.
//
// Efron, Tibshirani: An Introduction to the Bootstrap (1993), chapter 13: percentile intervals.
#pragma once

#include <cstddef>
#include <vector>

namespace traceinject {

inline constexpr std::size_t kResamples = 1000;
// More values than this are drawn in as many blocks of neighbors.
inline constexpr std::size_t kMaxBlocks = 500;

// Means of kResamples samples drawn from the values with replacement. The draws depend on the
// number of values only, so that equal input gives equal output everywhere, and series of one
// length are drawn together. Empty without values. O(values +
// kResamples * kMaxBlocks).
std::vector<double> ResampledMeans(const std::vector<double>& values);

// The same for a cost that comes now and then, such as a checkpoint: the steps without one (below
// a twentieth of the largest cost) are as many in every sample, because the period is the program's
// choice, and only the costs are drawn.
std::vector<double> ResampledSparseMeans(const std::vector<double>& values);

struct Bounds {
  double low = 0, high = 0;
};

// The middle 95 % of the means. 0 for an empty list. O(n log n).
Bounds Middle95(std::vector<double> means);

}  // namespace traceinject
