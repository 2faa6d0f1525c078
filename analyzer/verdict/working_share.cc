// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/working_share.h"

#include <algorithm>

#include "analyzer/metrics/copies.h"
#include "analyzer/metrics/window.h"

namespace traceinject {
namespace {

constexpr std::uint8_t kWithinDevice = 8;  // CUpti_ActivityMemcpyKind, DtoD

// Alone on the device, between the first and the last of the steps.
TimeNs OwnCopiesAlone(const JudgedDevice& judged) {
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

}  // namespace

WorkingShares WorkingSharesOf(const JudgedDevice& judged) {
  StepSplit sum;
  for (std::size_t i = 0; i < judged.steps.steps.size(); ++i) {
    if (!judged.steps.steps[i].warm_up) sum += judged.causes.steps[i];
  }
  const Partition& p = sum.partition;
  return {p.share(p.busy_ns() - p.exposed_copy_ns),
          p.share(std::min(OwnCopiesAlone(judged), p.exposed_copy_ns)),
          p.share(sum.idle(IdleCause::kQueued))};
}

}  // namespace traceinject
