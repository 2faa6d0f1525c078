// SPDX-License-Identifier: Apache-2.0
// What a change saves, from runs with it and without.
//
// Runs of one program differ by more than their steps tell: where the memory came to lie, which
// processors were free, how warm the GPU was. So from two runs of each on, runs are what is
// counted: Student's t on the means of the runs with the variance of both kinds pooled. Runs of
// each kind follow each other in turn, so that what drifts falls on both. The interval is never
// narrower than the steps of these runs say (mean_difference.h), which is all that a single run of
// each tells.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/metrics/what_if/bootstrap.h"

namespace traceinject {

// As Tries.method tells it.
extern const std::string_view kTriedSavingMethod;

struct TriedSaving {
  double saved_ns = 0;             // of a step; below 0: slower
  std::optional<Bounds> interval;  // 95 %; empty: too few steps
};

// Step times of each run, none of them empty, of at least one run of each kind.
TriedSaving SavingOf(const std::vector<std::vector<double>>& as_is,
                     const std::vector<std::vector<double>>& changed);

}  // namespace traceinject
