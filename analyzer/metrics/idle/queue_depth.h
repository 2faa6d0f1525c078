// SPDX-License-Identifier: Apache-2.0
// The launch lead: how far the host runs ahead of a device.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/model/counter_series.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// How many operations of the device the host had launched that had not begun yet. Where it is 0 the
// device waits for the host; operations without a recorded launch, or that seem to begin before it
// (clocks disagree), are left out. O(n).
CounterSeries QueueDepth(const Rank& rank, const Device& device);

// The same operations and depths, in a few figures. "Low": no more than this in 5 % of the cases.
struct QueueSummary {
  std::int64_t operations = 0;  // that begin in the times asked for
  // From the beginning of the launch call to that of the operation.
  TimeNs slack_median_ns = 0, slack_low_ns = 0;
  std::int64_t depth_median = 0, depth_low = 0;  // over the time
  TimeNs time_ns = 0, empty_ns = 0;              // with a depth of 0
};

// Empty: no operation with a known launch begins in these times. O(n).
std::optional<QueueSummary> SummarizeQueue(const Rank& rank, const Device& device,
                                           const Intervals& times);

}  // namespace traceinject
