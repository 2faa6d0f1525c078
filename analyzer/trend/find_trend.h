// SPDX-License-Identifier: Apache-2.0
// What runs over time tell: which can be compared, where the step time changed, and what changed
// with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schemas/trend.pb.h"

namespace traceinject {

struct TrendOptions {
  // A change to slower steps is a regression if it is larger than this share, and began no earlier.
  double tolerance = 0.03;
  std::optional<std::int64_t> since_unix_ns = std::nullopt;
};

// Of more runs in a group than this only the newest are looked at.
inline constexpr std::size_t kMostRuns = 1000;

// Groups, changes, and whether anything regressed. O(runs^3) of a group (change_points.h).
proto::Trend FindTrend(std::vector<proto::TrendRun> runs, const TrendOptions& options);

}  // namespace traceinject
