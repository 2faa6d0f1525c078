// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/queue_depth.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/metrics/quantiles.h"
#include "analyzer/metrics/window.h"

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

// Hands every change of the depth to `visit(time, by)`, in order.
template <typename Visit>
void ForEachChange(const Rank& rank, const GpuOps& ops, Visit visit) {
  const ApiCalls& api = rank.api;
  std::vector<std::uint32_t> launched_by(api.size(), 0);  // operations a call
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (CountsAsQueued(rank, ops, op)) ++launched_by[ops.launch[op]];
  }
  std::size_t call = 0;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (!CountsAsQueued(rank, ops, op)) continue;
    for (; call < api.size() && api.start[call] <= ops.start[op]; ++call) {
      if (launched_by[call] > 0) visit(api.start[call], launched_by[call]);
    }
    visit(ops.start[op], -1);
  }
}

// Time by depth, inside the times asked for.
class DepthTimes {
 public:
  explicit DepthTimes(const Intervals& times) : times_(times), next_(times.begin()) {}

  void Change(TimeNs now, std::int64_t by) {
    Spend(now);
    depth_ += by;
  }
  // The depth stays as it is until `now`. Moments come in order.
  void Spend(TimeNs now) {
    if (now <= from_) return;
    for (; next_ != times_.end() && next_->end <= now; ++next_) Book(*next_);
    if (next_ != times_.end()) Book({next_->start, std::min(next_->end, now)});
    from_ = now;
  }
  // The least depth that holds for more than this share of the time, with all that are less.
  std::int64_t Quantile(double share) const {
    TimeNs below = 0;
    for (std::size_t depth = 0; depth < by_depth_.size(); ++depth) {
      below += by_depth_[depth];
      if (static_cast<double>(below) > share * static_cast<double>(Total()))
        return static_cast<std::int64_t>(depth);
    }
    return 0;
  }
  TimeNs Total() const { return total_; }
  TimeNs Empty() const { return by_depth_[0]; }

 private:
  void Book(Interval time) {
    const TimeNs length = time.end - std::max(time.start, from_);
    if (length <= 0) return;
    by_depth_[static_cast<std::size_t>(std::min(depth_, kDeepest))] += length;
    total_ += length;
  }

  // Deeper queues than a driver holds are one.
  static constexpr std::int64_t kDeepest = 1 << 16;

  const Intervals& times_;
  Intervals::const_iterator next_;  // the first that is not all in the past
  std::vector<TimeNs> by_depth_ = std::vector<TimeNs>(kDeepest + 1);
  TimeNs from_ = std::numeric_limits<TimeNs>::min();
  TimeNs total_ = 0;
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
      for (std::size_t op = range.begin; op < range.end; ++op) {
        if (CountsAsQueued(rank, ops, op)) visit(ops.start[op] - rank.api.start[ops.launch[op]]);
      }
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
