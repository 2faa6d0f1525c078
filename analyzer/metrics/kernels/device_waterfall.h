// SPDX-License-Identifier: Apache-2.0
// The waterfall of a device that was analyzed; see waterfall.h.
#pragma once

#include <optional>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/gpu/telemetry.h"
#include "analyzer/metrics/kernels/waterfall.h"

namespace traceinject {

// The highest SM clock of the GPU by that of the busy GPU. Empty: either is not known. Not the
// clock of the published rate: cards of data centers run above that, and what a power cap takes
// away it takes from there.
std::optional<double> HighestByBusyClock(const Device& device,
                                         const std::optional<Telemetry>& telemetry);

// Of the times that partition, computing time and telemetry are of; idle time by cause where those
// are the judged steps.
Waterfall WaterfallOfDevice(const DeviceAnalysis& analysis, const Partition& partition,
                            const ComputeTime& compute, const std::optional<Telemetry>& telemetry);

}  // namespace traceinject
