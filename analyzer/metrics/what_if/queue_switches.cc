// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/queue_switches.h"

#include <algorithm>

#include "analyzer/metrics/idle/launch_latency.h"
#include "analyzer/metrics/what_if/replay.h"

namespace traceinject {

std::vector<TimeNs> SwitchesOverGraph(const Rank& rank, const Device& device, const Steps& steps) {
  const GpuOps& ops = device.ops;
  std::vector<TimeNs> over_ns(steps.steps.size());
  TimeNs busy_until = ops.size() > 0 ? ops.start.front() : 0;
  std::size_t step = 0;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    while (step < over_ns.size() && ops.start[row] >= steps.steps[step].time.end) ++step;
    if (step == over_ns.size()) break;
    const TimeNs pause_ns = ops.start[row] - busy_until;
    const std::uint32_t launch = ops.launch[row];
    if (pause_ns > kGraphSwitchNs && pause_ns <= kLongestSwitchNs && launch != kNone &&
        rank.api.start[launch] <= busy_until && ops.start[row] >= steps.steps[step].time.start)
      over_ns[step] += pause_ns - kGraphSwitchNs;
    busy_until = std::max(busy_until, ops.end[row]);
  }
  return over_ns;
}

}  // namespace traceinject
