// SPDX-License-Identifier: Apache-2.0
// How far the savings that the replay predicts were off where they could be measured: the part of
// an interval that no scatter of steps shows.
#pragma once

#include <string_view>

#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Measured / predicted saving of planted causes on GPUs: the middle 95 % for one more.
struct ModelError {
  std::string_view label;  // empty: all labels together
  int cases = 0;
  double low = 1, high = 1;  // at most 1, at least 1
};

// Of a label with fewer than three cases, that of all labels. O(labels).
const ModelError& ModelErrorOf(std::string_view label);

struct StatedInterval {
  double low_ns = 0, high_ns = 0;
  int cases = 0;  // of the label; 0: of all
};

// The 95 % interval of a saving: the scatter of the steps and the error of the model, which have
// nothing to do with each other. Never below 0 where the steps are not, nor above the step.
StatedInterval StatedIntervalOf(const CauseSaving& saving);

}  // namespace traceinject
