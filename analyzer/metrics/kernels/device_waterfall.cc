// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/device_waterfall.h"

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

std::optional<double> HighestByBusyClock(const Device& device,
                                         const std::optional<Telemetry>& telemetry) {
  if (!telemetry || telemetry->busy_sm_clock_mhz.value_or(0) <= 0) return std::nullopt;
  if (device.sm_clock_khz.value_or(0) <= 0) return std::nullopt;
  return *device.sm_clock_khz * 1e-3 / *telemetry->busy_sm_clock_mhz;
}

Waterfall WaterfallOfDevice(const DeviceAnalysis& analysis, const Partition& partition,
                            const ComputeTime& compute, const std::optional<Telemetry>& telemetry) {
  const Device& device = *analysis.device;
  return WaterfallOf(device, SplitOf(analysis, partition), compute,
                     HighestByBusyClock(device, telemetry));
}

}  // namespace traceinject
