// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/queue_depth.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/metrics/quantiles.h"
#include "analyzer/metrics/window.h"

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
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (now_ != kNever) points_.Add(now_, static_cast<std::int32_t>(std::min(depth_, kMost)));
  }

  CounterPoints points_;
  TimeNs now_ = kNever;
  std::int64_t depth_ = 0;
};

// Hands every change of the depth to `visit(time, by)`, in order.
template <typename Visit>
void ForEachChange(const Rank& rank, const GpuOps& ops, Visit visit) {
  const ApiCalls& api = rank.api;
  LaunchCounts launches(api.size());
  ForEachQueued(ops, api, {0, ops.size()},
                [&](std::size_t op, TimeNs) { launches.Add(ops.launch[op]); });
  std::size_t call = 0;
  ForEachQueued(ops, api, {0, ops.size()}, [&](std::size_t op, TimeNs) {
    for (; call < api.size() && api.start[call] <= ops.start[op]; ++call) {
      if (launches.Of(call) > 0) visit(api.start[call], launches.Of(call));
    }
    visit(ops.start[op], -1);
  });
}

// Time by depth, inside the times asked for.
class DepthTimes {
 public:
  explicit DepthTimes(const Intervals& times) : next_(times.begin()), end_(times.end()) {
    if (next_ != end_) from_ = next_->start;
  }

  void Change(TimeNs now, std::int64_t by) {
    Spend(now);
    depth_ += by;
  }
  // The depth stays as it is until `now`. Moments come in order.
  void Spend(TimeNs now) {
    if (now <= from_) return;
    while (next_ != end_ && next_->end <= now) {
      Book(next_->end - from_);
      ++next_;
      from_ = next_ == end_ ? kOpen : next_->start;
    }
    if (now <= from_) return;
    Book(now - from_);
    from_ = now;
  }
  // The least depth that holds for more than this share of the time, with all that are less.
  std::int64_t Quantile(double share) const {
    const TimeNs total = Total();
    TimeNs below = 0;
    for (std::size_t depth = 0; depth < by_depth_.size(); ++depth) {
      below += by_depth_[depth];
      if (static_cast<double>(below) > share * static_cast<double>(total))
        return static_cast<std::int64_t>(depth);
    }
    return 0;
  }
  TimeNs Total() const { return std::accumulate(by_depth_.begin(), by_depth_.end(), TimeNs{0}); }
  TimeNs Empty() const { return by_depth_[0]; }

 private:
  void Book(TimeNs length) {
    by_depth_[static_cast<std::size_t>(std::min(depth_, kDeepest))] += length;
  }

  // Deeper queues than a driver holds are one.
  static constexpr std::int64_t kDeepest = 1 << 16;

  Intervals::const_iterator next_, end_;  // the first that is not all in the past
  std::vector<TimeNs> by_depth_ = std::vector<TimeNs>(kDeepest + 1);
  TimeNs from_ = kOpen;  // the next moment to be spent
  std::int64_t depth_ = 0;
};

constexpr double kLow = 0.05;

}  // namespace

CounterSeries QueueDepth(const Rank& rank, const Device& device) {
  DepthPoints depth;
  ForEachChange(rank, device.ops, [&](TimeNs now, std::int64_t by) { depth.Change(now, by); });
  return std::move(depth).Take(rank.end);
}

std::optional<QueueSummary> SummariseQueue(const Rank& rank, const Device& device,
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
  DepthTimes depths(times);
  ForEachChange(rank, ops, [&](TimeNs now, std::int64_t by) { depths.Change(now, by); });
  depths.Spend(times.back().end);
  QueueSummary found;
  const auto [median, low] = QuantilesOf(slack, std::array{0.5, kLow}, for_each_slack);
  found.operations = static_cast<std::int64_t>(slack.total());
  found.slack_median_ns = median;
  found.slack_low_ns = low;
  found.depth_median = depths.Quantile(0.5);
  found.depth_low = depths.Quantile(kLow);
  found.time_ns = depths.Total();
  found.empty_ns = depths.Empty();
  return found;
}

}  // namespace traceinject
