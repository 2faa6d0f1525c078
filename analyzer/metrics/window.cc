// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/window.h"

#include <algorithm>
#include <limits>

namespace traceinject {
namespace {

TimeNs Length(Interval time) { return time.end - time.start; }

// Those without a planned gap, in order.
std::vector<Interval> RecordedParts(const GpuOps& ops, Interval window) {
  std::vector<Interval> parts;
  TimeNs from = window.start;
  const auto until = [&](TimeNs to) {
    if (to > from) parts.push_back({from, to});
  };
  for (const Interval& gap : ops.planned_gaps) {  // in order
    if (gap.end <= from || gap.start >= window.end) continue;
    until(std::max(gap.start, from));
    from = std::min(gap.end, window.end);
  }
  until(window.end);
  return parts;
}

double JoinedShare(const GpuOps& ops, OpRange range) {
  std::size_t joined = 0;
  for (std::size_t row = range.begin; row < range.end; ++row) joined += ops.launch[row] != kNone;
  const std::size_t all = range.end - range.begin;
  return all == 0 ? 0 : static_cast<double>(joined) / static_cast<double>(all);
}

}  // namespace
namespace {

// A limit far outside the representable time is as good as the last representable moment.
TimeNs SaturatingAdd(TimeNs a, TimeNs b) {
  TimeNs sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<TimeNs>::max() : std::numeric_limits<TimeNs>::min();
}

}  // namespace

std::optional<TimeNs> RunOrigin(const Run& run) {
  std::optional<TimeNs> origin;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      if (device.ops.size() == 0) continue;
      const TimeNs first = device.ops.start.front();
      origin = origin ? std::min(*origin, first) : first;
    }
  }
  return origin;
}

std::optional<Interval> GpuSpan(const GpuOps& ops) {
  if (ops.size() == 0) return std::nullopt;
  TimeNs end = ops.end.front();
  for (const TimeNs each : ops.end) end = std::max(end, each);
  return Interval{ops.start.front(), end};
}

std::optional<Window> DeviceWindow(const GpuOps& ops, TimeNs origin, const TimeLimits& limits) {
  const std::optional<Interval> span = GpuSpan(ops);
  if (!span) return std::nullopt;
  Window window{*span, false};
  if (limits.from_ns) {
    window.time.start = std::max(window.time.start, SaturatingAdd(origin, *limits.from_ns));
  }
  if (limits.to_ns) {
    window.time.end = std::min(window.time.end, SaturatingAdd(origin, *limits.to_ns));
  }
  if (window.time.end <= window.time.start) return std::nullopt;
  window.restricted = !(window.time == *span);
  return window;
}

Window LongestRecorded(const GpuOps& ops, const Window& window) {
  const std::vector<Interval> parts = RecordedParts(ops, window.time);
  std::vector<double> joined(parts.size(), 0);
  if (parts.size() > 1) {
    std::transform(parts.begin(), parts.end(), joined.begin(),
                   [&](Interval part) { return JoinedShare(ops, StartingIn(ops, part)); });
  }
  const double best = joined.empty() ? 0 : *std::max_element(joined.begin(), joined.end());
  Interval longest{window.time.start, window.time.start};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (2 * joined[i] >= best && Length(parts[i]) > Length(longest)) longest = parts[i];
  }
  return {longest, window.restricted || !(longest == window.time)};
}

}  // namespace traceinject
