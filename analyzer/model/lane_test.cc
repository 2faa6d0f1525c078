// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace traceinject {
namespace {

const Ink kInks[] = {InkOf(KernelClass::kGemm), InkOf(KernelClass::kComm),
                     InkOf(KernelClass::kMemcpy), Ink::kNvtx};

struct Shape {
  std::size_t events = 0;
  TimeNs longest = 0, longest_gap = 0;
  int zero_length_percent = 0;
  int huge_percent = 0;  // events or gaps a thousand times as long
};

LaneEvents RandomEvents(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto upto = [&random](TimeNs most) {
    return std::uniform_int_distribution<TimeNs>(0, most)(random);
  };
  const auto percent = [&](int share) { return upto(99) < share; };
  LaneEvents events;
  TimeNs time = 1'000'003;
  for (std::uint32_t i = 0; i < shape.events; ++i) {
    time += upto(shape.longest_gap) * (percent(shape.huge_percent) ? 1000 : 1);
    TimeNs length = 1 + upto(shape.longest) * (percent(shape.huge_percent) ? 1000 : 1);
    if (percent(shape.zero_length_percent)) length = 0;
    events.Add(time, time + length, i, kInks[upto(3)]);
    time += std::max<TimeNs>(length, 1);
  }
  return events;
}

// What Lane promises, by looking at every event.
LaneSummary SummaryByHand(const LaneEvents& events, TimeNs from, TimeNs to) {
  LaneSummary summary;
  TimeNs longest = -1;
  const auto width = static_cast<double>(to - from);
  double busy = 0;
  std::array<double, kCategories> mix = {};
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const bool starts = events.start(i) >= from && events.start(i) < to;
    const TimeNs inside = std::min(events.end(i), to) - std::max(events.start(i), from);
    if (!starts && inside <= 0) continue;
    summary.count += starts ? 1 : 0;
    busy += static_cast<double>(inside);
    const Category category = CategoryOf(events.ink(i));
    if (category != Category::kHost) {
      mix[static_cast<std::size_t>(category)] += static_cast<double>(inside);
    }
    if (inside <= longest) continue;
    longest = inside;
    summary.event = i;
  }
  summary.busy = static_cast<float>(busy / width);
  for (std::size_t i = 0; i < kCategories; ++i) summary.mix[i] = static_cast<float>(mix[i] / width);
  return summary;
}

std::vector<LaneSpan> QueryByHand(const LaneEvents& events, TimeNs start, TimeNs end,
                                  TimeNs width) {
  const TimeNs origin = events.start(0);
  std::vector<LaneSpan> spans;
  std::set<TimeNs> cells;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events.end(i) < start - 2 * width || events.start(i) > end + 2 * width) continue;
    if (events.end(i) - events.start(i) >= 2 * width) {
      LaneSpan span{events.start(i), events.end(i), true, {}};
      span.summary.event = i;
      spans.push_back(span);
      continue;
    }
    const TimeNs last = std::max(events.end(i) - 1, events.start(i));
    for (TimeNs cell = (events.start(i) - origin) / width; cell <= (last - origin) / width;
         ++cell) {
      cells.insert(cell);
    }
  }
  std::vector<LaneSpan> parts;
  for (const TimeNs cell : cells) {
    TimeNs from = origin + cell * width, to = from + width;
    std::vector<std::pair<TimeNs, TimeNs>> free = {};
    for (const LaneSpan& exact : spans) {
      if (exact.end <= from || exact.start >= to) continue;
      if (exact.start > from) free.emplace_back(from, exact.start);
      from = exact.end;
    }
    if (from < to) free.emplace_back(from, to);
    for (const auto& [left, right] : free) {
      const LaneSummary summary = SummaryByHand(events, left, right);
      if (!summary.empty()) parts.push_back({left, right, false, summary});
    }
  }
  spans.insert(spans.end(), parts.begin(), parts.end());
  std::sort(spans.begin(), spans.end(),
            [](const LaneSpan& a, const LaneSpan& b) { return a.start < b.start; });
  return spans;
}

void KeepInside(std::vector<LaneSpan>& spans, TimeNs start, TimeNs end) {
  std::erase_if(spans,
                [&](const LaneSpan& span) { return span.end <= start || span.start >= end; });
}

void ExpectSame(const LaneSummary& found, const LaneSummary& expected, const std::string& where) {
  constexpr float kStep = 1.5F / 65535;
  EXPECT_EQ(found.event, expected.event) << where;
  EXPECT_EQ(found.count, std::min(expected.count, 65535U)) << where;
  EXPECT_NEAR(found.busy, expected.busy, kStep) << where;
  for (std::size_t i = 0; i < kCategories; ++i) {
    EXPECT_NEAR(found.mix[i], expected.mix[i], kStep) << where;
  }
}

void ExpectQueryAsByHand(const Lane& lane, const LaneEvents& events, TimeNs start, TimeNs end,
                         int shift) {
  const TimeNs width = TimeNs{1} << shift;
  std::vector<LaneSpan> found;
  lane.Query(start, end, static_cast<double>(width), found);
  std::vector<LaneSpan> expected = QueryByHand(events, start, end, width);
  KeepInside(found, start, end);
  KeepInside(expected, start, end);
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const std::string where = "cells of 2^" + std::to_string(shift) + ", span " + std::to_string(i);
    ASSERT_EQ(found[i].start, expected[i].start) << where;
    ASSERT_EQ(found[i].end, expected[i].end) << where;
    ASSERT_EQ(found[i].exact, expected[i].exact) << where;
    if (found[i].exact) {
      EXPECT_EQ(found[i].summary.event, expected[i].summary.event) << where;
    } else {
      ExpectSame(found[i].summary, expected[i].summary, where);
    }
  }
  EXPECT_EQ(found.size(), expected.size()) << "cells of 2^" << shift;
}

constexpr Shape kShapes[] = {
    {.events = 1, .longest = 500, .longest_gap = 0, .zero_length_percent = 0, .huge_percent = 0},
    {.events = 1, .longest = 0, .longest_gap = 0, .zero_length_percent = 100, .huge_percent = 0},
    {.events = 15, .longest = 90, .longest_gap = 9, .zero_length_percent = 10, .huge_percent = 0},
    {.events = 700, .longest = 50, .longest_gap = 50, .zero_length_percent = 20, .huge_percent = 0},
    {.events = 700, .longest = 50, .longest_gap = 0, .zero_length_percent = 0, .huge_percent = 0},
    {.events = 700, .longest = 40, .longest_gap = 40, .zero_length_percent = 5, .huge_percent = 3},
    {.events = 300, .longest = 0, .longest_gap = 3, .zero_length_percent = 100, .huge_percent = 9},
};

TEST(Lane, QueryIsWhatLookingAtEveryEventGives) {
  for (std::size_t shape = 0; shape < std::size(kShapes); ++shape) {
    SCOPED_TRACE("shape " + std::to_string(shape));
    const LaneEvents events = RandomEvents(kShapes[shape], 7);
    const Lane lane(events);
    const TimeNs first = events.start(0), last = events.end(events.size() - 1) + 1;
    for (int shift = 0; (TimeNs{1} << shift) < last - first; ++shift) {
      ExpectQueryAsByHand(lane, events, first, last, shift);
      const TimeNs third = (last - first) / 3;
      ExpectQueryAsByHand(lane, events, first + third, first + 2 * third + 1, shift);
    }
  }
}

TEST(Lane, SummariesOfAnyStretchAreExact) {
  const LaneEvents events = RandomEvents(kShapes[5], 3);
  const Lane lane(events);
  std::mt19937 random(5);
  std::uniform_int_distribution<TimeNs> moment(events.start(0) - 50,
                                               events.end(events.size() - 1) + 50);
  for (int round = 0; round < 300; ++round) {
    TimeNs from = moment(random), to = moment(random);
    if (from > to) std::swap(from, to);
    if (from == to) ++to;
    const LaneSummary expected = SummaryByHand(events, from, to);
    ExpectSame(lane.Summarize(from, to), expected, "from " + std::to_string(from));
    const double busy = static_cast<double>(lane.Busy(from, to)) / static_cast<double>(to - from);
    EXPECT_NEAR(busy, expected.busy, 1e-6);
    EXPECT_EQ(lane.Count(from, to), expected.count);
  }
}

TEST(Lane, NoEventIsLostAtAnyZoom) {
  const LaneEvents events = RandomEvents({.events = 5'000,
                                          .longest = 200,
                                          .longest_gap = 900,
                                          .zero_length_percent = 10,
                                          .huge_percent = 2},
                                         11);
  const Lane lane(events);
  const TimeNs first = events.start(0), last = events.end(events.size() - 1) + 1;
  std::vector<LaneSpan> spans;
  for (double ns_per_px = 0.05; ns_per_px < static_cast<double>(last - first); ns_per_px *= 1.7) {
    lane.Query(first, last, ns_per_px, spans);
    std::size_t count = 0;
    double busy = 0;
    for (const LaneSpan& span : spans) {
      count += span.summary.count;
      busy += static_cast<double>(span.summary.busy) * static_cast<double>(span.end - span.start);
    }
    EXPECT_EQ(count, events.size()) << ns_per_px;
    const auto expected = static_cast<double>(lane.Busy(first, last));
    EXPECT_NEAR(busy / expected, 1, 2e-3) << ns_per_px;
  }
}

TEST(Lane, OneShortEventInAnEmptyHourIsDrawn) {
  constexpr TimeNs kHour = 3'600'000'000'000;
  LaneEvents events;
  for (std::uint32_t i = 0; i < 200; ++i) {
    events.Add(i, i + 1, i, kInks[0]);
  }
  events.Add(kHour / 2, kHour / 2 + 1, 200, kInks[0]);
  events.Add(kHour, kHour, 201, kInks[1]);
  const Lane lane(events);
  std::vector<LaneSpan> spans;
  lane.Query(0, kHour + 1, static_cast<double>(kHour) / 1600, spans);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[1].summary.event, 200U);
  EXPECT_GT(spans[1].summary.busy, 0);
  EXPECT_EQ(spans[2].summary.event, 201U);
}

TEST(Lane, CostDependsOnThePixelsNotOnTheEvents) {
  const LaneEvents events = RandomEvents({.events = 200'000,
                                          .longest = 100,
                                          .longest_gap = 100,
                                          .zero_length_percent = 0,
                                          .huge_percent = 1},
                                         2);
  const Lane lane(events);
  const TimeNs first = events.start(0), last = events.end(events.size() - 1);
  std::vector<LaneSpan> spans;
  for (double share = 1; share > 1e-6; share /= 3) {
    const auto span = static_cast<TimeNs>(static_cast<double>(last - first) * share) + 1;
    const TimeNs middle = first + (last - first) / 2;
    lane.Query(middle - span / 2, middle + span / 2 + 1, static_cast<double>(span) / 1000, spans);
    // A cell can be cut in two by an event drawn as it is, which covers two cells.
    EXPECT_LE(spans.size(), 2'010U) << share;
  }
}

TEST(Lane, WithoutEventsThereIsNothing) {
  const Lane lane{LaneEvents{}};
  std::vector<LaneSpan> spans(3);
  lane.Query(0, 1'000, 1, spans);
  EXPECT_TRUE(spans.empty());
  EXPECT_EQ(lane.Busy(0, 1'000), 0);
  EXPECT_EQ(lane.Count(0, 1'000), 0U);
  EXPECT_TRUE(lane.Summarize(0, 1'000).empty());
}

TEST(Lane, MemoryIsAFewBytesAnEvent) {
  const LaneEvents events = RandomEvents({.events = 100'000,
                                          .longest = 100,
                                          .longest_gap = 100,
                                          .zero_length_percent = 0,
                                          .huge_percent = 0},
                                         2);
  EXPECT_LT(events.memory_bytes(), events.size() * 9);
  EXPECT_LT(Lane(events).memory_bytes(), events.memory_bytes() + events.size() * 4);
}

}  // namespace
}  // namespace traceinject
