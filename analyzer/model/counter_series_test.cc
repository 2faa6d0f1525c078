// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/counter_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace traceinject {
namespace {

struct Points {
  std::vector<TimeNs> time;
  std::vector<std::int32_t> value;
  TimeNs end = 0;

  CounterSeries Series() const {
    CounterPoints points;
    for (std::size_t i = 0; i < time.size(); ++i) points.Add(time[i], value[i]);
    return {std::move(points), end};
  }
  // By looking at every point.
  CounterRange Range(TimeNs from, TimeNs to) const {
    CounterRange range;
    bool any = false;
    for (std::size_t i = 0; i < time.size(); ++i) {
      const TimeNs until = i + 1 < time.size() ? time[i + 1] : end;
      if (until <= from || time[i] >= to || until <= time[i]) continue;
      range = any ? CounterRange{std::min(range.least, value[i]), std::max(range.most, value[i])}
                  : CounterRange{value[i], value[i]};
      any = true;
    }
    return range;
  }
};

Points RandomPoints(std::mt19937& random, std::size_t count) {
  Points points;
  TimeNs time = 1'000;
  for (std::size_t i = 0; i < count; ++i) {
    points.time.push_back(time);
    points.value.push_back(static_cast<std::int32_t>(random() % 50));
    time += 1 + static_cast<TimeNs>(random() % 4 == 0 ? random() % 5'000 : random() % 20);
  }
  points.end = time;
  return points;
}

TEST(CounterSeries, HoldsAValueUntilTheNext) {
  const CounterSeries series = Points{{10, 20}, {3, 5}, 40}.Series();
  EXPECT_EQ(series.At(9), 0);
  EXPECT_EQ(series.At(10), 3);
  EXPECT_EQ(series.At(19), 3);
  EXPECT_EQ(series.At(20), 5);
  EXPECT_EQ(series.At(39), 5);
  EXPECT_EQ(series.At(40), 0);
  EXPECT_EQ(series.Range(0, 10), CounterRange());
  EXPECT_EQ(series.Range(12, 15), (CounterRange{3, 3}));
  EXPECT_EQ(series.Range(12, 21), (CounterRange{3, 5}));
}

TEST(CounterSeries, EmptyIsNothing) {
  const CounterSeries series;
  std::vector<CounterSpan> spans(3);
  series.Query(0, 100, 1, spans);
  EXPECT_TRUE(spans.empty());
  EXPECT_EQ(series.At(0), 0);
  EXPECT_EQ(series.Range(0, 100), CounterRange());
}

TEST(CounterSeries, RangesAreThoseOfEveryPoint) {
  std::mt19937 random(7);
  for (const std::size_t count : {1U, 15U, 16U, 17U, 255U, 256U, 257U, 5'000U}) {
    const Points points = RandomPoints(random, count);
    const CounterSeries series = points.Series();
    for (int i = 0; i < 300; ++i) {
      const auto length = static_cast<std::uint32_t>(points.end);
      const auto a = static_cast<TimeNs>(random() % length);
      const auto b = a + 1 + static_cast<TimeNs>(random() % length);
      ASSERT_EQ(series.Range(a, b), points.Range(a, b)) << count << " points, " << a << ".." << b;
    }
  }
}

TEST(CounterSeries, WhatIsDrawnHasEveryPeakAtEveryZoom) {
  std::mt19937 random(8);
  const Points points = RandomPoints(random, 3'000);
  const CounterSeries series = points.Series();
  std::vector<CounterSpan> spans;
  for (double ns_per_px = 0.5; ns_per_px < 1e6; ns_per_px *= 3) {
    series.Query(0, points.end + 10, ns_per_px, spans);
    ASSERT_FALSE(spans.empty());
    EXPECT_EQ(spans.front().start, 1'000);
    EXPECT_EQ(spans.back().end, points.end);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (i > 0) {
        ASSERT_EQ(spans[i].start, spans[i - 1].end) << ns_per_px;
      }
      ASSERT_EQ(spans[i].range, points.Range(spans[i].start, spans[i].end)) << ns_per_px;
      ASSERT_EQ(spans[i].last, series.At(spans[i].end - 1));
    }
    const double pixels = static_cast<double>(points.end) / ns_per_px;
    EXPECT_LE(static_cast<double>(spans.size()), std::min(pixels + 2, 2 * 3'000.0)) << ns_per_px;
  }
}

TEST(CounterSeries, CellsDoNotMoveWithTheView) {
  std::mt19937 random(9);
  const Points points = RandomPoints(random, 2'000);
  const CounterSeries series = points.Series();
  std::vector<CounterSpan> all, part;
  series.Query(0, points.end, 900, all);
  series.Query(points.end / 3, points.end / 2, 900, part);
  ASSERT_GT(part.size(), 4U);
  for (std::size_t i = 1; i + 1 < part.size(); ++i) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const CounterSpan& span) {
      return span.start == part[i].start && span.end == part[i].end;
    });
    ASSERT_NE(same, all.end()) << part[i].start;
    EXPECT_EQ(same->range, part[i].range);
  }
}

TEST(CounterSeries, TakesFewBytesAPoint) {
  std::mt19937 random(10);
  const CounterSeries series = RandomPoints(random, 100'000).Series();
  EXPECT_LT(series.memory_bytes(), 100'000 * 6);
}

}  // namespace
}  // namespace traceinject
