// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/queue_depth.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/metrics/idle/quantiles.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

// Calls visit(row, when it was launched) for the operations that count, in order.
template <typename Visit>
void ForEachQueued(const GpuOps& ops, const ApiCalls& api, OpRange range, Visit visit) {
  for (std::size_t op = range.begin; op < range.end; ++op) {
    if (ops.launch[op] == kNone) continue;
    const TimeNs launched = api.start[ops.launch[op]];
    if (launched <= ops.start[op]) visit(op, launched);
  }
}

// How many operations each call launched: mostly one, but a graph has many.
class LaunchCounts {
 public:
  explicit LaunchCounts(std::size_t calls) : few_(calls) {}

  void Add(std::uint32_t call) {
    if (few_[call] < kMany) {
      ++few_[call];
    } else {
      ++more_[call];
    }
  }
  std::int64_t Of(std::size_t call) const {
    if (few_[call] < kMany) return few_[call];
    const auto more = more_.find(static_cast<std::uint32_t>(call));
    return kMany + (more == more_.end() ? 0 : more->second);
  }

 private:
  static constexpr std::uint8_t kMany = 255;

  std::vector<std::uint8_t> few_;  // up to kMany
  std::unordered_map<std::uint32_t, std::int64_t> more_;
};

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
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    if (now_ != kNever) points_.Add(now_, static_cast<std::int32_t>(std::min(depth_, kMax)));
  }

  CounterPoints points_;
  TimeNs now_ = kNever;
  std::int64_t depth_ = 0;
};

LaunchCounts CountLaunches(const GpuOps& ops, const ApiCalls& api) {
  LaunchCounts launches(api.size());
  ForEachQueued(ops, api, {0, ops.size()},
                [&](std::size_t op, TimeNs) { launches.Add(ops.launch[op]); });
  return launches;
}

// How long the queue was how deep in these times; deeper queues than a driver holds are one.
std::vector<TimeNs> TimesByDepth(const GpuOps& ops, const ApiCalls& api, const Intervals& times) {
  constexpr std::int64_t kDeepest = 1 << 16;
  const LaunchCounts launches = CountLaunches(ops, api);
  std::vector<TimeNs> by_depth(kDeepest + 1);
  std::int64_t depth = 0;
  std::size_t op = 0, call = 0;  // the next
  for (const Interval& time : times) {
    TimeNs from = time.start;
    const auto change = [&](TimeNs now, std::int64_t by) {
      if (now > from) {
        by_depth[static_cast<std::size_t>(std::min(depth, kDeepest))] += now - from;
        from = now;
      }
      depth += by;
    };
    const auto call_before = [&](TimeNs end) {
      for (; call < api.size(); ++call) {
        const TimeNs called = api.start[call];
        if (called >= end) break;
        change(called, launches.Of(call));
      }
    };
    for (; op < ops.size(); ++op) {
      const TimeNs start = ops.start[op];
      if (start >= time.end) break;
      if (ops.launch[op] == kNone || api.start[ops.launch[op]] > start) continue;
      call_before(start + 1);
      change(start, -1);
    }
    call_before(time.end);
    change(time.end, 0);
  }
  return by_depth;
}

// The least depth that holds for more than this share of the time, with all that are less.
std::int64_t Quantile(const std::vector<TimeNs>& by_depth, TimeNs total, double share) {
  TimeNs below = 0;
  for (std::size_t depth = 0; depth < by_depth.size(); ++depth) {
    below += by_depth[depth];
    if (static_cast<double>(below) > share * static_cast<double>(total))
      return static_cast<std::int64_t>(depth);
  }
  return 0;
}

constexpr double kLow = 0.05;

}  // namespace

CounterSeries QueueDepth(const Rank& rank, const Device& device) {
  const GpuOps& ops = device.ops;
  const ApiCalls& api = rank.api;
  const LaunchCounts launches = CountLaunches(ops, api);
  DepthPoints depth;
  std::size_t call = 0;  // the next
  ForEachQueued(ops, api, {0, ops.size()}, [&](std::size_t op, TimeNs) {
    for (; call < api.size() && api.start[call] <= ops.start[op]; ++call) {
      if (const std::int64_t count = launches.Of(call); count > 0)
        depth.Change(api.start[call], count);
    }
    depth.Change(ops.start[op], -1);
  });
  return std::move(depth).Take(rank.end);
}

std::optional<QueueSummary> SummarizeQueue(const Rank& rank, const Device& device,
                                           const Intervals& times) {
  const GpuOps& ops = device.ops;
  OpRanges ranges;
  for (const Interval& time : times) ranges.push_back(StartingIn(ops, time));
  const auto for_each_slack = [&](auto visit) {
    for (const OpRange& range : ranges) {
      ForEachQueued(ops, rank.api, range,
                    [&](std::size_t op, TimeNs launched) { visit(ops.start[op] - launched); });
    }
  };
  TimeCounts slack;
  for_each_slack([&](TimeNs time) { slack.Add(time); });
  if (slack.total() == 0) return std::nullopt;
  const std::vector<TimeNs> by_depth = TimesByDepth(ops, rank.api, times);
  QueueSummary found;
  const auto [median, low] = QuantilesOf(slack, std::array{0.5, kLow}, for_each_slack);
  found.operations = static_cast<std::int64_t>(slack.total());
  found.slack_median_ns = median;
  found.slack_low_ns = low;
  found.time_ns = std::accumulate(by_depth.begin(), by_depth.end(), TimeNs{0});
  found.empty_ns = by_depth[0];
  found.depth_median = Quantile(by_depth, found.time_ns, 0.5);
  found.depth_low = Quantile(by_depth, found.time_ns, kLow);
  return found;
}

}  // namespace traceinject
