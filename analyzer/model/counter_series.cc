// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/counter_series.h"

#include <algorithm>
#include <utility>

namespace traceinject {
namespace {

constexpr std::size_t kFanOut = 16;
constexpr int kMaxSeriesShift = 60;

CounterRange Join(CounterRange a, CounterRange b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

}  // namespace

CounterSeries::CounterSeries(CounterPoints points, TimeNs end_ns)
    : points_(std::move(points)), end_(end_ns) {
  points_.time.shrink_to_fit();
  points_.value.shrink_to_fit();
  if (size() == 0) return;
  end_ = std::max(end_, points_.time.back() + 1);
  const auto add_level = [this](std::size_t count, auto range_of) {
    std::vector<CounterRange> level;
    level.reserve((count + kFanOut - 1) / kFanOut);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kFanOut == 0) {
        level.push_back(range_of(i));
      } else {
        level.back() = Join(level.back(), range_of(i));
      }
    }
    levels_.push_back(std::move(level));
  };
  add_level(size(), [this](std::size_t i) {
    const std::int32_t value = points_.value[i];
    return CounterRange{value, value};
  });
  while (levels_.back().size() > 1) {
    const std::size_t below = levels_.size() - 1;
    add_level(levels_[below].size(), [&](std::size_t i) { return levels_[below][i]; });
  }
}

std::size_t CounterSeries::PointAfter(TimeNs time_ns, std::size_t from) const {
  // In growing steps, then by halves: what is looked for mostly lies near.
  std::size_t low = from, step = 1;
  while (low + step <= size() && points_.time[low + step - 1] <= time_ns) {
    low += step;
    step *= 2;
  }
  std::size_t high = std::min(low + step, size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (points_.time[middle] <= time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::int32_t CounterSeries::At(TimeNs time_ns) const {
  const std::size_t after = PointAfter(time_ns);
  return after == 0 || time_ns >= end_ ? 0 : points_.value[after - 1];
}

CounterRange CounterSeries::RangeOfPoints(std::size_t first, std::size_t last) const {
  const auto point = [this](std::size_t at) {
    const std::int32_t value = points_.value[at];
    return CounterRange{value, value};
  };
  CounterRange range = point(first);
  const auto add_points = [&](std::size_t until) {
    for (; first < until; ++first) range = Join(range, point(first));
  };
  // Up to whole blocks, up the levels while they fit, and down again.
  std::size_t width = 1;
  std::size_t level = 0;  // 0: points; else levels_[level - 1]
  while (first < last) {
    const std::size_t wider = width * kFanOut;
    if (level < levels_.size() && first % wider == 0 && first + wider <= last) {
      width = wider;
      ++level;
    } else if (level > 0 && first + width > last) {
      width /= kFanOut;
      --level;
    } else if (level == 0) {
      add_points(std::min(last, first / kFanOut * kFanOut + kFanOut));
    } else {
      range = Join(range, levels_[level - 1][first / width]);
      first += width;
    }
  }
  return range;
}

CounterRange CounterSeries::Range(TimeNs start_ns, TimeNs end_ns) const {
  if (size() == 0 || end_ns <= start()) return {};
  if (start_ns >= end_ || end_ns <= start_ns) return {};
  const std::size_t after = PointAfter(start_ns);
  return RangeOfPoints(after == 0 ? 0 : after - 1,
                       std::max<std::size_t>(PointAfter(end_ns - 1, after), 1));
}

void CounterSeries::Query(TimeNs start_ns, TimeNs end_ns, double ns_per_px,
                          std::vector<CounterSpan>& spans) const {
  spans.clear();
  if (size() == 0) return;
  int shift = 0;
  while (shift < kMaxSeriesShift && static_cast<double>(TimeNs{1} << shift) < ns_per_px) ++shift;
  const TimeNs origin = start(), until = std::min(end_ns, end_);
  TimeNs cell = std::max(start_ns, origin);
  cell = origin + ((cell - origin) >> shift << shift);
  std::size_t next = 0;
  while (cell < until) {
    next = PointAfter(cell, next);
    const TimeNs next_change = next < size() ? points_.time[next] : end_;
    // A stretch without change lasts up to the cell that has the next one.
    TimeNs cell_end = origin + ((next_change - origin) >> shift << shift);
    std::size_t last_point = next - 1;
    if (cell_end <= cell) {
      cell_end = cell + (TimeNs{1} << shift);
      last_point = PointAfter(cell_end - 1, next) - 1;
    }
    const CounterRange range = RangeOfPoints(next - 1, last_point + 1);
    cell_end = std::min(cell_end, end_);
    const std::int32_t last = points_.value[last_point];
    const bool joins = !spans.empty() && spans.back().range == range && range.least == range.most;
    if (joins) {
      spans.back().end = cell_end;
    } else {
      spans.push_back({cell, cell_end, range, last});
    }
    cell = cell_end;
  }
}

std::size_t CounterSeries::memory_bytes() const {
  std::size_t bytes = points_.time.memory_bytes() + points_.value.memory_bytes();
  for (const auto& level : levels_) bytes += level.size() * sizeof(CounterRange);
  return bytes;
}

}  // namespace traceinject
