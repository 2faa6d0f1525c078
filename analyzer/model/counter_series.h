// SPDX-License-Identifier: Apache-2.0
// A figure over time (a queue's depth, power, a clock), and what of it to draw at any zoom.
//
// Units and convention: int64 nanoseconds; a value holds from its time to the next one's, the last
// one to the end of the series. Half-open intervals.
//
// Level of detail: least and most value of every 16 points, of every 16 of those, and so on. A peak
// of one point is seen at every zoom, and never flickers: no value is ever left out by sampling.
// Memory: 12 bytes a point and half a byte more.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

struct CounterRange {
  float least = 0, most = 0;
  bool operator==(const CounterRange&) const = default;
};

// One thing to draw: the values within a stretch of time, and the one at its end.
struct CounterSpan {
  TimeNs start = 0, end = 0;
  CounterRange range;
  float last = 0;
};

class CounterSeries {
 public:
  CounterSeries() = default;
  // Columns of equal length, sorted by time; of points at one time the last counts. O(n).
  CounterSeries(std::vector<TimeNs> time, std::vector<float> value, TimeNs end_ns);

  std::size_t size() const { return time_.size(); }
  TimeNs start() const { return time_.empty() ? end_ : time_.front(); }
  TimeNs end() const { return end_; }

  // The value at a moment; 0 before the first point. O(log n).
  float At(TimeNs time_ns) const;
  // Of the values that hold somewhere in [start_ns, end_ns); {0, 0} if none does. O(log n).
  CounterRange Range(TimeNs start_ns, TimeNs end_ns) const;

  // What to draw of [start_ns, end_ns), by time. Times are cut at cells, which are the smallest
  // power of two that is no shorter than a pixel and do not move with the view; stretches without
  // change are one span. O(pixels x log n). Replaces `spans`.
  void Query(TimeNs start_ns, TimeNs end_ns, double ns_per_px,
             std::vector<CounterSpan>& spans) const;

  std::size_t memory_bytes() const;

 private:
  // The first point later than a time.
  std::size_t PointAfter(TimeNs time_ns) const;
  // Of points [first, last), at least one.
  CounterRange RangeOfPoints(std::size_t first, std::size_t last) const;

  std::vector<TimeNs> time_;
  std::vector<float> value_;
  TimeNs end_ = 0;
  std::vector<std::vector<CounterRange>> levels_;  // finest first
};

}  // namespace traceinject
