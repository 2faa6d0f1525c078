// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/device_waterfall.h"

#include <optional>

#include "analyzer/metrics/gpu/sm_rates.h"

namespace traceinject {
namespace {

// That of the published rate by that of the busy GPU.
std::optional<double> SlowedClock(const DeviceFigures& found) {
  if (!found.telemetry || found.telemetry->busy_sm_clock_mhz.value_or(0) <= 0) return std::nullopt;
  const std::optional<double> rated = RatedSmClockMhz(*found.device, PeakDtype::kBf16);
  if (!rated) return std::nullopt;
  return *rated / *found.telemetry->busy_sm_clock_mhz;
}

// With causes only where those are of the same times.
StepSplit SplitOf(const DeviceFigures& found) {
  if (found.causes.steps.size() == found.steps.steps.size()) {
    const StepSplit judged = found.SumOf(IsJudged);
    if (judged.partition.wall_ns == found.partition.wall_ns) return judged;
  }
  StepSplit split;
  split.partition = found.partition;
  return split;
}

}  // namespace

Waterfall WaterfallOf(const DeviceFigures& found) {
  return WaterfallOf(*found.device, SplitOf(found), found.compute, SlowedClock(found));
}

}  // namespace traceinject
