// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/pack_lanes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

constexpr TimeNs kBeforeAll = std::numeric_limits<TimeNs>::min();

// Sorted by start, then longest first. Empty if the events stand so already.
std::vector<std::uint32_t> NestingOrder(const LaneEvents& events) {
  const auto before = [&events](std::uint32_t a, std::uint32_t b) {
    if (events.start[a] != events.start[b]) return events.start[a] < events.start[b];
    if (events.end[a] != events.end[b]) return events.end[a] > events.end[b];
    return a < b;
  };
  std::vector<std::uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  if (std::is_sorted(order.begin(), order.end(), before)) return {};
  std::sort(order.begin(), order.end(), before);
  return order;
}

// The events of one category, each cut down to what no earlier one covers.
LaneEvents WithoutOverlap(const LaneEvents& events, Category category) {
  LaneEvents pieces;
  TimeNs covered = kBeforeAll;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (CategoryOf(events.ink[i]) != category) continue;
    const TimeNs start = std::max(events.start[i], covered);
    if (events.end[i] <= start) continue;
    pieces.Add(start, events.end[i], events.source[i], events.ink[i]);
    covered = events.end[i];
  }
  return pieces;
}

// `upper`, and of `lower` what lies beside it. Neither overlaps within itself.
LaneEvents Overlay(const LaneEvents& upper, const LaneEvents& lower) {
  LaneEvents both;
  std::size_t next_upper = 0;
  TimeNs upper_end = kBeforeAll;
  const auto add_upper = [&] {
    both.Add(upper.start[next_upper], upper.end[next_upper], upper.source[next_upper],
             upper.ink[next_upper]);
    upper_end = upper.end[next_upper++];
  };
  for (std::size_t i = 0; i < lower.size(); ++i) {
    while (next_upper < upper.size() && upper.start[next_upper] <= lower.start[i]) add_upper();
    TimeNs start = std::max(lower.start[i], upper_end);
    while (start < lower.end[i]) {
      const bool cut = next_upper < upper.size() && upper.start[next_upper] < lower.end[i];
      const TimeNs end = cut ? upper.start[next_upper] : lower.end[i];
      if (end > start) both.Add(start, end, lower.source[i], lower.ink[i]);
      if (!cut) break;
      add_upper();
      start = upper_end;
    }
  }
  while (next_upper < upper.size()) add_upper();
  return both;
}

}  // namespace

PackedLanes PackLanes(LaneEvents events) {
  PackedLanes packed;
  const std::vector<std::uint32_t> order = NestingOrder(events);
  std::vector<TimeNs> free_from;  // per lane
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::size_t event = order.empty() ? i : order[i];
    const TimeNs start = events.start[event];
    const auto lane =
        static_cast<std::size_t>(std::find_if(free_from.begin(), free_from.end(),
                                              [start](TimeNs free) { return free <= start; }) -
                                 free_from.begin());
    if (lane == kMostLanes) {
      ++packed.hidden;
      continue;
    }
    if (lane == free_from.size()) {
      free_from.push_back(kBeforeAll);
      packed.lanes.emplace_back();
    }
    packed.lanes[lane].Add(start, events.end[event], events.source[event], events.ink[event]);
    free_from[lane] = std::max(events.end[event], start + 1);
  }
  return packed;
}

LaneEvents UnionOf(const PackedLanes& packed) {
  Intervals all;
  for (const LaneEvents& lane : packed.lanes) {
    for (std::size_t i = 0; i < lane.size(); ++i) all.push_back({lane.start[i], lane.end[i]});
  }
  LaneEvents events;
  for (const Interval& interval : Merge(std::move(all))) {
    events.Add(interval.start, interval.end, 0, Ink::kCallOther);
  }
  return events;
}

LaneEvents FlattenByCategory(const LaneEvents& events) {
  LaneEvents all = WithoutOverlap(events, Category::kCompute);
  all = Overlay(all, WithoutOverlap(events, Category::kCommunication));
  return Overlay(all, WithoutOverlap(events, Category::kCopy));
}

}  // namespace traceinject
