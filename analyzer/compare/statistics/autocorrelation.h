// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace traceinject {

// How many neighbors tell together what one value would that had nothing in common with the others:
// (1 + r) / (1 - r) of an autoregression of first order. r is the lag-1 autocorrelation, without
// what a short series underestimates it by (Marriott, Pope, Bias in the estimation of
// autocorrelations, Biometrika 41, 1954), and with a part of its standard error on top, as it may
// well be larger; from 0 to 0.9. Of values in the order of time, at least two. O(n).
double ValuesForOne(const std::vector<double>& values);

}  // namespace traceinject
