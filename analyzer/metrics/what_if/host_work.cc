// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/host_work.h"

#include <algorithm>
#include <utility>

namespace traceinject {
namespace {

// Of usual gaps: `tensor.item()` takes Python three to five of its usual ways to a launch.
constexpr TimeNs kMostGaps = 10;
constexpr std::size_t kLookedAt = 100'000;  // gaps, to tell the usual one

bool Launches(ApiClass api_class) {
  return api_class == ApiClass::kLaunch || api_class == ApiClass::kGraphLaunch;
}

}  // namespace

// Hands each call of the threads that feed the device, with the time since the one before it, to
// `on_gap(row of the call before, row of the call, Interval)`.
template <typename OnGap>
void HostWork::WalkCalls(OnGap on_gap) const {
  const ApiCalls& api = rank_.api;
  std::uint32_t before = kNone;
  TimeNs ended = 0;
  for (std::uint32_t row = 0; row < api.size(); ++row) {
    const std::uint32_t thread = api.thread[row];
    if (thread >= timeline_.feeders.size() || !timeline_.feeders[thread] || api.end[row] == kOpen)
      continue;
    if (before != kNone)
      on_gap(before, row, Interval{std::min(ended, api.start[row]), api.start[row]});
    ended = before == kNone ? api.end[row] : std::max(ended, api.end[row]);
    before = row;
  }
}

HostWork::HostWork(const Rank& rank, const HostTimeline& timeline)
    : rank_(rank), timeline_(timeline) {
  std::vector<TimeNs> gaps;
  const auto launches = [&](std::uint32_t row) {
    return Launches(rank_.api_names[rank_.api.name[row]].api_class);
  };
  WalkCalls([&](std::uint32_t before, std::uint32_t row, Interval gap) {
    if (gaps.size() < kLookedAt && launches(before) && launches(row))
      gaps.push_back(gap.end - gap.start);
  });
  if (gaps.empty()) return;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  usual_gap_ns_ = *middle;
}

// What a segment tells of is the replay's own business.
Intervals HostWork::OutsideOfSegments(Intervals found) const {
  Intervals segments;
  for (const HostSegment& segment : timeline_.segments) segments.push_back(segment.time);
  return Subtract(Merge(std::move(found)), Merge(std::move(segments)));
}

Intervals HostWork::OfCalls(const std::vector<std::uint32_t>& calls) const {
  Intervals found;
  auto next = calls.begin();
  WalkCalls([&](std::uint32_t, std::uint32_t row, Interval gap) {
    while (next != calls.end() && *next < row) ++next;
    if (next == calls.end() || *next != row) return;
    const TimeNs most = kMostGaps * usual_gap_ns_;
    found.push_back({std::max(gap.start, gap.end - most), rank_.api.end[row]});
  });
  return OutsideOfSegments(std::move(found));
}

Intervals HostWork::OfWaits() const {
  Intervals found;
  auto segment = timeline_.segments.begin();
  const auto waits = [&](std::uint32_t row) {
    const TimeNs start = rank_.api.start[row];
    while (segment != timeline_.segments.end() && segment->time.end <= start) ++segment;
    return segment != timeline_.segments.end() && segment->time.start <= start &&
           segment->cause == IdleCause::kSync;
  };
  bool waited = false;  // in the call before
  const TimeNs most = kMostGaps * usual_gap_ns_;
  WalkCalls([&](std::uint32_t, std::uint32_t row, Interval gap) {
    const bool before = std::exchange(waited, waits(row));
    if (waited) {
      found.push_back({std::max(gap.start, gap.end - most), gap.end});
    } else if (before) {
      const TimeNs more = std::min(gap.end - gap.start - usual_gap_ns_, most);
      found.push_back({gap.start, gap.start + std::max<TimeNs>(0, more)});
    }
  });
  return OutsideOfSegments(std::move(found));
}

}  // namespace traceinject
