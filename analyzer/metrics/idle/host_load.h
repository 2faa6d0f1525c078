// SPDX-License-Identifier: Apache-2.0
// Whether the threads that launch a device's work compute, wait, or have no processor.
#pragma once

#include <optional>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// From this share of a processor on they compute: a thread that waits now and then uses less.
inline constexpr double kComputingLoad = 0.9;

// Processor time of the threads that feed the device, as a share of the time between the first and
// the last sample of theirs in the interval: 1 is one processor. Empty: fewer than two samples of
// each. O(samples).
std::optional<double> LoadOfFeeders(const Rank& rank, const HostTimeline& timeline, Interval time);

// Time in the times, in ns, in which threads that feed the device could have run but had no
// processor, as the kernel accounts for it; of several threads the sum. Between two samples of a
// thread it is taken to be spread evenly. Empty: not accounted for, or samples lie in less than
// half of the times. O(samples * log times).
std::optional<double> ProcessorWaitOfFeeders(const Rank& rank, const HostTimeline& timeline,
                                             const Intervals& times);

}  // namespace traceinject
