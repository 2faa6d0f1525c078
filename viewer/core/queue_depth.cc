// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/queue_depth.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace traceinject {
namespace {

bool CountsAsQueued(const Rank& rank, const GpuOps& ops, std::size_t op) {
  return ops.launch[op] != kNone && rank.api.start[ops.launch[op]] <= ops.start[op];
}

// What happens at one time is one point.
class DepthPoints {
 public:
  void Change(TimeNs now, std::int64_t by) {
    if (now != now_) Put();
    now_ = now;
    depth_ += by;
  }
  CounterSeries Take(TimeNs end) && {
    Put();
    return {std::move(points_), now_ == kNever ? end : std::max(end, now_)};
  }

 private:
  static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();

  void Put() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (now_ != kNever) points_.Add(now_, static_cast<std::int32_t>(std::min(depth_, kMost)));
  }

  CounterPoints points_;
  TimeNs now_ = kNever;
  std::int64_t depth_ = 0;
};

}  // namespace

CounterSeries QueueDepth(const Rank& rank, const Device& device) {
  const GpuOps& ops = device.ops;
  const ApiCalls& api = rank.api;
  std::vector<std::uint32_t> launched_by(api.size(), 0);  // operations a call
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (CountsAsQueued(rank, ops, op)) ++launched_by[ops.launch[op]];
  }
  DepthPoints depth;
  std::size_t call = 0;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (!CountsAsQueued(rank, ops, op)) continue;
    for (; call < api.size() && api.start[call] <= ops.start[op]; ++call) {
      if (launched_by[call] > 0) depth.Change(api.start[call], launched_by[call]);
    }
    depth.Change(ops.start[op], -1);
  }
  return std::move(depth).Take(rank.end);
}

}  // namespace traceinject
