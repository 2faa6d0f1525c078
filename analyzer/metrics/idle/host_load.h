// SPDX-License-Identifier: Apache-2.0
// Whether the threads that launch a device's work compute or wait where nothing else tells.
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

}  // namespace traceinject
