// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/window.h"

#include <algorithm>
#include <limits>

namespace traceinject {
namespace {

struct Part {
  Interval time;
  std::size_t operations;
  double joined_share;
};

double JoinedShare(const GpuOps& ops, OpRange range) {
  std::size_t joined = 0;
  for (std::size_t row = range.begin; row < range.end; ++row) joined += ops.launch[row] != kNone;
  const std::size_t all = range.end - range.begin;
  return all == 0 ? 0 : static_cast<double>(joined) / static_cast<double>(all);
}

// Those without a planned gap, in order.
std::vector<Part> RecordedParts(const GpuOps& ops, Interval window) {
  std::vector<Part> parts;
  TimeNs from = window.start;
  const auto until = [&](TimeNs to) {
    if (to <= from) return;
    const OpRange range = StartingIn(ops, {from, to});
    parts.push_back({{from, to}, range.end - range.begin, JoinedShare(ops, range)});
  };
  for (const Interval& gap : ops.planned_gaps) {  // in order
    if (gap.end <= from || gap.start >= window.end) continue;
    until(std::max(gap.start, from));
    from = std::min(gap.end, window.end);
  }
  until(window.end);
  return parts;
}

// Leaves those that have at least half as much as any.
template <typename Number>
void LeaveLargest(std::vector<Part>& parts, Number Part::*figure) {
  Number most = 0;
  for (const Part& part : parts) most = std::max(most, part.*figure);
  std::erase_if(parts, [&](const Part& part) { return 2 * (part.*figure) < most; });
}

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

Window ReportedPart(const GpuOps& ops, const Window& window) {
  if (ops.planned_gaps.empty()) return window;
  std::vector<Part> parts = RecordedParts(ops, window.time);
  LeaveLargest(parts, &Part::joined_share);
  LeaveLargest(parts, &Part::operations);
  const Interval none{window.time.start, window.time.start};
  const Interval chosen = parts.empty() ? none : parts[parts.size() / 2].time;
  return {chosen, window.restricted || !(chosen == window.time)};
}

}  // namespace traceinject
