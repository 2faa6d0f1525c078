// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/device_waterfall.h"

#include "analyzer/metrics/gpu/sm_rates.h"

namespace traceinject {
namespace {

// With causes only where those are of the same times.
StepSplit SplitOf(const DeviceAnalysis& analysis, const Partition& partition) {
  if (analysis.causes.steps.size() == analysis.steps.steps.size()) {
    const StepSplit judged = analysis.SumOf(IsJudged);
    if (judged.partition.wall_ns == partition.wall_ns) return judged;
  }
  StepSplit split;
  split.partition = partition;
  return split;
}

}  // namespace

std::optional<double> RatedByBusyClock(const Device& device,
                                       const std::optional<Telemetry>& telemetry) {
  if (!telemetry || telemetry->busy_sm_clock_mhz.value_or(0) <= 0) return std::nullopt;
  const std::optional<double> rated = RatedSmClockMhz(device, PeakDtype::kBf16);
  if (!rated) return std::nullopt;
  return *rated / *telemetry->busy_sm_clock_mhz;
}

Waterfall WaterfallOfDevice(const DeviceAnalysis& analysis, const Partition& partition,
                            const ComputeTime& compute, const std::optional<Telemetry>& telemetry) {
  const Device& device = *analysis.device;
  return WaterfallOf(device, SplitOf(analysis, partition), compute,
                     RatedByBusyClock(device, telemetry));
}

}  // namespace traceinject
