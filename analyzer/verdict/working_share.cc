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

// Alone on the device, in the judged steps.
TimeNs OwnCopiesAlone(const DeviceAnalysis& judged) {
  const Intervals windows = judged.steps.judged_times();
  const GpuOps& ops = judged.device->ops;
  TimeNs alone_ns = 0;
  for (const CopyStats& stats : CountCopies(*judged.rank, ops, StartingIn(ops, windows), windows)) {
    if (stats.is_memset || stats.kind == kWithinDevice) alone_ns += stats.exposed_ns;
  }
  return alone_ns;
}

// The host was ahead then; a shorter wait may be the latency of the launch itself.
constexpr TimeNs kAheadNs = 50'000;

TimeNs PausesOf(const DeviceAnalysis& judged) {
  return QueuedTime(*judged.rank, judged.device->ops, judged.causes.usual_latency_ns,
                    judged.window.time, kAheadNs, judged.steps.judged_times());
}

}  // namespace

WorkingShares WorkingSharesOf(const DeviceAnalysis& judged) {
  const Partition p = judged.SumOf(IsJudged).partition;
  const TimeNs own_copies_ns =
      p.exposed_copy_ns > 0 ? std::min(OwnCopiesAlone(judged), p.exposed_copy_ns) : 0;
  return {p.share(p.busy_ns() - p.exposed_copy_ns), p.share(own_copies_ns),
          p.share(PausesOf(judged))};
}

}  // namespace traceinject
