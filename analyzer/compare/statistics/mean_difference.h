// SPDX-License-Identifier: Apache-2.0
// Whether two series of steps differ in their mean, by how much, and how sure that is.
//
// Neighboring steps resemble each other: clocks drift, a cache is cold for a while, a neighbor on
// the machine works for a second. So the variance of a mean is not that of its steps over their
// number. It is estimated from means of blocks of neighbors (batch means; Schmeiser, Batch size
// effects in the analysis of simulation output, Operations Research 30(3), 1982), of 1, 2, 4, ...
// steps as long as six blocks are left, and the blocks that give the widest interval count: no
// length of block has to be guessed, and the interval is rather too wide than too narrow. Blocks of
// few steps are still alike, so the variance of an autoregression of first order competes with
// theirs. The two
// variances make one interval as Welch proposed (The generalization of Student's problem when
// several different population variances are involved, Biometrika 34, 1947).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/metrics/what_if/bootstrap.h"

namespace traceinject {

// As Comparison.method tells it.
extern const std::string_view kDifferenceMethod;

// With fewer values nothing says how they vary.
inline constexpr std::size_t kMinValues = 3;

struct MeanDifference {
  double before = 0, after = 0;
  std::optional<Bounds> interval;  // 95 %, of after - before; empty: too few values
  double p = 1;                    // that means which do not differ look so different
  std::size_t block = 0;           // values of the longer of both blocks; 0: no interval

  double change() const { return after - before; }
  bool certain() const { return interval && (interval->low > 0 || interval->high < 0); }
};

// Of values in the order of time. 0 is the mean of none. O(values log values).
MeanDifference DifferenceOfMeans(const std::vector<double>& before,
                                 const std::vector<double>& after);

}  // namespace traceinject
