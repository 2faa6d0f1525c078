// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/working_share.h"

#include <algorithm>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

constexpr std::uint8_t kWithinDevice = 8;  // CUpti_ActivityMemcpyKind, DtoD

// Alone on the device, between the first and the last of the steps.
TimeNs OwnCopiesAlone(const DeviceAnalysis& judged) {
  const std::vector<Step>& steps = judged.steps.steps;
  const auto first =
      std::find_if(steps.begin(), steps.end(), [](const Step& step) { return !step.warm_up; });
  if (first == steps.end()) return 0;
  const Interval window{first->time.start, steps.back().time.end};
  const GpuOps& ops = judged.device->ops;
  TimeNs alone_ns = 0;
  for (const CopyStats& stats : CountCopies(*judged.rank, ops, StartingIn(ops, window), window)) {
    if (stats.is_memset || stats.kind == kWithinDevice) alone_ns += stats.exposed_ns;
  }
  return alone_ns;
}

// The host was ahead then; a shorter wait may be the latency of the launch itself.
constexpr TimeNs kAheadNs = 50'000;

TimeNs PausesOf(const DeviceAnalysis& judged) {
  Intervals steps;
  for (const Step& step : judged.steps.steps) {
    if (!step.warm_up) Append(steps, step.time);
  }
  return QueuedTime(*judged.rank, judged.device->ops, judged.causes.usual_latency_ns,
                    judged.window.time, kAheadNs, steps);
}

}  // namespace

WorkingShares WorkingSharesOf(const DeviceAnalysis& judged) {
  StepSplit sum;
  for (std::size_t i = 0; i < judged.steps.steps.size(); ++i) {
    if (!judged.steps.steps[i].warm_up) sum += judged.causes.steps[i];
  }
  const Partition& p = sum.partition;
  const TimeNs own_copies_ns =
      p.exposed_copy_ns > 0 ? std::min(OwnCopiesAlone(judged), p.exposed_copy_ns) : 0;
  return {p.share(p.busy_ns() - p.exposed_copy_ns), p.share(own_copies_ns),
          p.share(PausesOf(judged))};
}

}  // namespace traceinject
