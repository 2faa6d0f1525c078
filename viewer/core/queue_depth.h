// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/counter_series.h"

namespace traceinject {

// How many operations of the device the host had launched that had not begun yet. Where it is 0 the
// device waits for the host; operations without a recorded launch, or that seem to begin before it
// (clocks disagree), are left out. O(n).
CounterSeries QueueDepth(const Rank& rank, const Device& device);

}  // namespace traceinject
