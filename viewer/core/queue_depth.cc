// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/queue_depth.h"

#include <algorithm>
#include <utility>

namespace traceinject {

CounterSeries QueueDepth(const Rank& rank, const Device& device) {
  const GpuOps& ops = device.ops;
  std::vector<TimeNs> launched, begun;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.launch[row] == kNone) continue;
    const TimeNs launch = rank.api.start[ops.launch[row]];
    if (launch > ops.start[row]) continue;
    launched.push_back(launch);
    begun.push_back(ops.start[row]);
  }
  std::sort(launched.begin(), launched.end());
  std::vector<TimeNs> time;
  std::vector<float> depth;
  std::size_t started = 0;
  for (std::size_t next = 0; started < begun.size();) {
    const bool launches = next < launched.size() && launched[next] <= begun[started];
    const TimeNs now = launches ? launched[next] : begun[started];
    while (next < launched.size() && launched[next] == now) ++next;
    while (started < begun.size() && begun[started] == now) ++started;
    time.push_back(now);
    depth.push_back(static_cast<float>(next - started));
  }
  const TimeNs end = std::max(rank.end, time.empty() ? rank.end : time.back());
  return {std::move(time), std::move(depth), end};
}

}  // namespace traceinject
