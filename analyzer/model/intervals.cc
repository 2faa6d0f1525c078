// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/intervals.h"

#include <algorithm>

namespace traceinject {
namespace {

bool StartsEarlier(const Interval& a, const Interval& b) { return a.start < b.start; }

// The first member that ends after t.
Intervals::const_iterator FirstEndingAfter(const Intervals& a, TimeNs t) {
  return std::partition_point(a.begin(), a.end(), [t](const Interval& x) { return x.end <= t; });
}

}  // namespace

void Append(Intervals& list, Interval next) {
  if (next.end <= next.start) return;
  if (!list.empty() && next.start <= list.back().end) {
    list.back().end = std::max(list.back().end, next.end);
  } else {
    list.push_back(next);
  }
}

Intervals Merge(Intervals intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), StartsEarlier)) {
    std::sort(intervals.begin(), intervals.end(), StartsEarlier);
  }
  Intervals merged;
  for (const Interval& next : intervals) Append(merged, next);
  return merged;
}

Intervals MergeColumns(const TimeColumn& start, const TimeColumn& end, TimeNs open_end,
                       const std::vector<std::uint32_t>* rows) {
  Intervals intervals;
  const std::size_t count = rows != nullptr ? rows->size() : start.size();
  intervals.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = rows != nullptr ? (*rows)[i] : i;
    intervals.push_back({start[row], end[row] == kOpen ? open_end : end[row]});
  }
  return Merge(std::move(intervals));
}

Intervals Intersect(const Intervals& a, const Intervals& b) {
  Intervals result;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Interval overlap = {std::max(x->start, y->start), std::min(x->end, y->end)};
    if (overlap.start < overlap.end) result.push_back(overlap);
    (x->end < y->end) ? static_cast<void>(++x) : static_cast<void>(++y);
  }
  return result;
}

Intervals Subtract(const Intervals& a, const Intervals& b) {
  Intervals result;
  auto hole = b.begin();
  for (const Interval& member : a) {
    TimeNs start = member.start;
    while (hole != b.end() && hole->end <= start) ++hole;
    // The last hole may reach into the next member too, so it is not consumed here.
    for (auto h = hole; h != b.end() && h->start < member.end; ++h) {
      Append(result, {start, h->start});
      start = std::max(start, h->end);
      hole = h;
    }
    Append(result, {start, member.end});
  }
  return result;
}

Intervals Clip(const Intervals& a, Interval window) {
  Intervals result;
  for (auto x = FirstEndingAfter(a, window.start); x != a.end() && x->start < window.end; ++x) {
    Append(result, {std::max(x->start, window.start), std::min(x->end, window.end)});
  }
  return result;
}

TimeNs Length(const Intervals& a) {
  TimeNs total = 0;
  for (const Interval& x : a) total += x.end - x.start;
  return total;
}

TimeNs LengthInside(const Intervals& a, Interval window) {
  TimeNs total = 0;
  for (auto x = FirstEndingAfter(a, window.start); x != a.end() && x->start < window.end; ++x) {
    total += std::max<TimeNs>(0, std::min(x->end, window.end) - std::max(x->start, window.start));
  }
  return total;
}

TimeNs FreeTail(const Intervals& a, Interval window) {
  const auto after =
      std::lower_bound(a.begin(), a.end(), window.end,
                       [](const Interval& one, TimeNs end) { return one.start < end; });
  const TimeNs covered = after == a.begin() ? window.start : (after - 1)->end;
  return std::max<TimeNs>(0, window.end - std::max(window.start, covered));
}

bool Contains(const Intervals& a, TimeNs t) {
  const auto x = FirstEndingAfter(a, t);
  return x != a.end() && x->start <= t;
}

bool IsMerged(const Intervals& a) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].end <= a[i].start) return false;
    if (i > 0 && a[i].start <= a[i - 1].end) return false;
  }
  return true;
}

}  // namespace traceinject
