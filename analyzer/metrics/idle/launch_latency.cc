// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/launch_latency.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace traceinject {
namespace {

constexpr TimeNs kDefaultLatencyNs = 8'000;
constexpr std::size_t kMin = 20;

}  // namespace

TimeNs UsualLatency(const ApiCalls& api, const GpuOps& ops) {
  std::vector<TimeNs> latencies;
  TimeNs busy_until = std::numeric_limits<TimeNs>::min();
  for (std::size_t row = 0; row < ops.size(); ++row) {
    const std::uint32_t launch = ops.launch[row];
    if (launch != kNone && IsOwnKernel(ops, row) && ops.start[row] > busy_until &&
        api.start[launch] > busy_until && api.start[launch] <= ops.start[row])
      latencies.push_back(ops.start[row] - api.start[launch]);
    busy_until = std::max(busy_until, ops.end[row]);
  }
  if (latencies.size() < kMin) return kDefaultLatencyNs;
  const auto at = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 20);
  std::nth_element(latencies.begin(), at, latencies.end());
  return *at;
}

}  // namespace traceinject
