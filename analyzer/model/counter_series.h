// SPDX-License-Identifier: Apache-2.0
// A figure over time (a queue's depth, power, a clock), and what of it to draw at any zoom.
//
// Units and convention: int64 nanoseconds; a value holds from its time to the next one's, the last
// one to the end of the series. Half-open intervals. Values are whole numbers: a figure that has
// fractions is given in a smaller unit.
//
// Level of detail: least and most value of every 16 points, of every 16 of those, and so on. A peak
// of one point is seen at every zoom, and never flickers: no value is ever left out by sampling.
// Memory: what PackedColumn takes for times and values, 3 to 5 bytes a point as a rule, and half a
// byte more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/packed_column.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct CounterRange {
  std::int32_t least = 0, most = 0;
  bool operator==(const CounterRange&) const = default;
};

// One thing to draw: the values within a stretch of time, and the one at its end.
struct CounterSpan {
  TimeNs start = 0, end = 0;
  CounterRange range;
  std::int32_t last = 0;
};

// Points by time, no two at the same.
struct CounterPoints {
  PackedColumn<TimeNs> time;
  PackedColumn<std::int32_t> value;

  void Add(TimeNs time_ns, std::int32_t value_then) {
    time.push_back(time_ns);
    value.push_back(value_then);
  }
};

class CounterSeries {
 public:
  CounterSeries() = default;
  // O(n).
  CounterSeries(CounterPoints points, TimeNs end_ns);

  std::size_t size() const { return points_.time.size(); }
  TimeNs start() const { return size() == 0 ? end_ : points_.time.front(); }
  TimeNs end() const { return end_; }

  // The value at a moment; 0 before the first point. O(log n).
  std::int32_t At(TimeNs time_ns) const;
  // Of the values that hold somewhere in [start_ns, end_ns); {0, 0} if none does. O(log n).
  CounterRange Range(TimeNs start_ns, TimeNs end_ns) const;

  // What to draw of [start_ns, end_ns), by time. Times are cut at cells, which are the smallest
  // power of two that is no shorter than a pixel and do not move with the view; stretches without
  // change are one span. O(pixels x log n). Replaces `spans`.
  void Query(TimeNs start_ns, TimeNs end_ns, double ns_per_px,
             std::vector<CounterSpan>& spans) const;

  std::size_t memory_bytes() const;

 private:
  // The first point later than a time, at `from` or after it. O(log of how far that is).
  std::size_t PointAfter(TimeNs time_ns, std::size_t from = 0) const;
  // Of points [first, last), at least one.
  CounterRange RangeOfPoints(std::size_t first, std::size_t last) const;

  CounterPoints points_;
  TimeNs end_ = 0;
  std::vector<std::vector<CounterRange>> levels_;  // finest first
};

}  // namespace traceinject
