// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/cost/recorder_cost.h"

#include <algorithm>
#include <array>

#include "analyzer/metrics/idle/quantiles.h"

namespace traceinject {
namespace {

struct LaunchLength {
  std::size_t launches = 0;
  double usual = kUsualLaunchNs, least = kFastLaunchNs, most = kSlowLaunchNs;
};

LaunchLength LaunchLengthOf(const Rank& rank) {
  const auto for_each = [&](auto visit) {
    for (std::size_t call = 0; call < rank.api.size(); ++call) {
      const TimeNs length = rank.api.end[call] - rank.api.start[call];
      if (length >= 0 && rank.api_names[rank.api.name[call]].api_class == ApiClass::kLaunch)
        visit(length);
    }
  };
  TimeCounts counts;
  for_each([&](TimeNs length) { counts.Add(length); });
  LaunchLength length{.launches = counts.total()};
  if (counts.total() >= kMinLaunches)
    length.usual = length.least = length.most =
        static_cast<double>(QuantilesOf(counts, std::array{0.25}, for_each)[0]);
  return length;
}

// CUPTI was taken out of the process while nothing was recorded (TRACEINJECT_DETACH).
bool WasDetached(const Rank& rank) {
  return std::any_of(rank.health.begin(), rank.health.end(), [](const HealthCounter& counter) {
    return counter.source == "cupti" && counter.counter == "detached" && counter.value > 0;
  });
}

}  // namespace

RecorderCost RecorderCostOf(const Rank& rank) {
  if (!rank.imported_from.empty()) return {};
  const LaunchLength launch = LaunchLengthOf(rank);
  return {kRecordedShare * launch.usual, kMinRecordedShare * launch.least,
          kMaxRecordedShare * launch.most, WasDetached(rank) ? 0 : kResidentShare * launch.usual,
          launch.launches > 0};
}

}  // namespace traceinject
