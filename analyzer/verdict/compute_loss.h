// SPDX-License-Identifier: Apache-2.0
// What a run that is bound by computing loses most to, and what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/metrics/kernels/waterfall.h"
#include "analyzer/verdict/levers.h"

namespace traceinject {

// "38.2 % of the published peak is achieved; most is lost to memory-bound kernels: 21.4 % of the
// step, 15.6 ms". Empty: not known. `steps`: of how many the waterfall is.
std::string LossSentence(const Waterfall& waterfall, double steps);
// " (norm 6.1 ms; elementwise 5.2 ms)": what is most of it. Empty: not known.
std::string LossItems(const Waterfall& waterfall, double steps);

// What may make it less, in the order to try. O(rows x loaders).
std::vector<LeverRow> LeversOfLoss(const Waterfall& waterfall, const Rank& rank);

}  // namespace traceinject
