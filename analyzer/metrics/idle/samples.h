// SPDX-License-Identifier: Apache-2.0
// Training samples per step and per second, from the sizes of the batches that the data loader gave
// and the ends of the optimizer's steps.
#pragma once

#include <optional>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct SampleRate {
  double per_step = 0, per_second = 0;
};

// The samples of the batches that came between the first and the last step of the first optimizer
// in the window, of the loader that gave most batches there (another one may be for validation).
// Empty: fewer than two steps, no batches, or the size of a batch is not known. O(steps + waits).
std::optional<SampleRate> CountSamples(const Rank& rank, Interval window);

}  // namespace traceinject
