// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace traceinject {

// What is called a change at an adjusted p below this is none in 5 % of the cases.
inline constexpr double kFalseDiscoveryRate = 0.05;

// p-values adjusted for how many there are: Benjamini, Hochberg, Controlling the false discovery
// rate, Journal of the Royal Statistical Society B 57, 1995. In the order given. O(n log n).
std::vector<double> AdjustedP(const std::vector<double>& p);

}  // namespace traceinject
