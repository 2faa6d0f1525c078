// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/savings/model_error.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace traceinject {
namespace {

// Of tests/gpu/results/verdicts.md, as tests/gpu/analysis/model_error.py prints them.
constexpr ModelError kErrors[] = {
    {"allocator", 5, 0.48, 2.14},         {"checkpoint", 4, 0.79, 1.56},
    {"dataloader", 8, 0.79, 1.52},        {"gc_pause", 4, 0.70, 1.54},
    {"h2d_copy", 7, 0.57, 1.70},          {"inefficient_gemm", 5, 0.97, 1.04},
    {"launch_bound", 13, 0.89, 1.35},     {"low_precision_unused", 4, 0.75, 1.17},
    {"memory_bound", 5, 1.00, 2.13},      {"sync_bound", 10, 0.78, 1.29},
    {"unfused_attention", 4, 0.75, 2.10}, {"", 69, 0.74, 1.61},
};

}  // namespace

const ModelError& ModelErrorOf(std::string_view label) {
  const auto found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                  [label](const ModelError& one) { return one.label == label; });
  return found == std::end(kErrors) ? *std::prev(std::end(kErrors)) : *found;
}

StatedInterval StatedIntervalOf(const CauseSaving& saving) {
  const ModelError& error = ModelErrorOf(saving.label);
  const double saved = std::max(0.0, saving.saved_ns);
  const double below = std::hypot(saving.saved_ns - saving.low_ns, (1 - error.low) * saved);
  const double above = std::hypot(saving.high_ns - saving.saved_ns, (error.high - 1) * saved);
  const double low = saving.saved_ns - below;
  double high = saving.saved_ns + above;
  // No more can be saved than there is.
  if (saving.step_ns > 0)
    high = std::max(saving.high_ns, std::min(high, saving.step_ns - saving.recording_ns));
  return {saving.low_ns >= 0 ? std::max(0.0, low) : low, high,
          error.label.empty() ? 0 : error.cases};
}

}  // namespace traceinject
