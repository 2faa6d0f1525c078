// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/contention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/common/median.h"

namespace traceinject {
namespace {

constexpr TimeNs kBehindNs = 20'000;  // after the end of another: it waited for that
constexpr TimeNs kMinDelayNs = 50'000;
constexpr double kFarAbove = 8 * 1.4826;  // median absolute deviations
constexpr std::size_t kMinKernels = 16;   // that show what is usual

// When the GPU did something in a step.
TimeNs BusyIn(const StepFacts& step) {
  return step.compute_ns + step.exposed_communication_ns + step.exposed_copy_ns;
}

TimeNs UsuallyBusy(const RankSummary& rank) {
  std::vector<TimeNs> busy;
  for (const StepFacts& step : rank.steps) {
    if (step.regular) busy.push_back(BusyIn(step));
  }
  return busy.empty() ? 0 : Median(std::move(busy));
}

}  // namespace

std::vector<ContendedKernel> FindContention(const RankSummary& rank, const GroupOperations& group) {
  std::vector<std::uint32_t> rows;
  std::vector<TimeNs> latency;
  for (std::uint32_t row = 0; row < group.count(); ++row) {
    const bool behind = row > 0 && group.start[row] - group.end[row - 1] < kBehindNs;
    if (behind || group.launch[row] == kOpen || group.step[row] == kNone) continue;
    rows.push_back(row);
    latency.push_back(group.start[row] - group.launch[row]);
  }
  if (rows.size() < kMinKernels) return {};
  const TimeNs usual = Median(latency);
  std::vector<TimeNs> off;
  for (const TimeNs one : latency) off.push_back(std::abs(one - usual));
  const TimeNs most = std::max(
      kMinDelayNs, static_cast<TimeNs>(kFarAbove * static_cast<double>(Median(std::move(off)))));
  const TimeNs usually_busy = UsuallyBusy(rank);
  std::vector<ContendedKernel> contended;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TimeNs delay = latency[i] - usual;
    if (delay <= most) continue;
    // More work before it delays a kernel too.
    const StepFacts& step = rank.steps[group.step[rows[i]]];
    const TimeNs more = BusyIn(step) - group.exposed_ns[rows[i]] - usually_busy;
    const TimeNs left = delay - std::max<TimeNs>(more, 0);
    if (left > kMinDelayNs) contended.push_back({rows[i], left});
  }
  return contended;
}

}  // namespace traceinject
