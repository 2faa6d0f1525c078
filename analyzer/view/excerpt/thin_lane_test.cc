// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/thin_lane.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

LaneEvents Events(std::initializer_list<Interval> times) {
  LaneEvents events;
  std::uint32_t source = 0;
  for (const Interval time : times)
    events.Add(time.start, time.end, source++, InkOf(KernelClass::kGemm));
  return events;
}

// Short ones and long ones, with and without idle time between them.
Lane RandomLane(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](TimeNs limit) {
    return std::uniform_int_distribution<TimeNs>(0, limit - 1)(random);
  };
  const KernelClass classes[] = {KernelClass::kGemm, KernelClass::kComm, KernelClass::kMemcpy};
  LaneEvents events;
  TimeNs time = 1'000;
  for (int i = 0; i < count; ++i) {
    const TimeNs length = 1 + below(below(20) == 0 ? 5'000 : 40);
    events.Add(time, time + length, static_cast<std::uint32_t>(i), InkOf(classes[below(3)]));
    time += length + (below(2) == 0 ? 0 : below(30));
  }
  return Lane(std::move(events));
}

TimeNs Inside(const ThinSpan& span, Interval time) {
  return span.merged() ? span.busy
                       : std::min(span.end, time.end) - std::max(span.start, time.start);
}

TEST(ThinLane, MergesShortNeighborsOfACellAndKeepsLongOnes) {
  const Lane lane(Events({{0, 10}, {12, 15}, {20, 200}, {205, 210}, {215, 220}, {301, 305}}));
  const auto spans = ThinLane(lane, {0, 400}, 100);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].start, 0);
  EXPECT_EQ(spans[0].end, 15);
  EXPECT_EQ(spans[0].busy, 13);
  EXPECT_EQ(spans[0].count, 2u);
  EXPECT_EQ(spans[0].event, 0u) << "the longest";
  EXPECT_FALSE(spans[1].merged());
  EXPECT_EQ(spans[1].event, 2u);
  EXPECT_EQ(spans[2].busy, 10);
  EXPECT_EQ(spans[2].mix[static_cast<std::size_t>(Category::kCompute)], 10);
  EXPECT_EQ(spans[3].start, 301) << "a cell of its own";
}

TEST(ThinLane, KeepsWhatReachesBeyondTheTime) {
  const Lane lane(Events({{0, 10}, {12, 15}, {95, 105}, {106, 110}}));
  const auto spans = ThinLane(lane, {5, 100}, 1'000);
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].start, 0);
  EXPECT_EQ(spans[2].end, 105);
  EXPECT_EQ(spans[1].busy, 3);
}

TEST(ThinLane, TheTimeOfALaneStaysTheSameToTheNanosecond) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Lane lane = RandomLane(seed, 3'000);
    const TimeNs last = lane.end(lane.size() - 1);
    const Interval time{last / 5, last - last / 7};
    std::size_t fewest = lane.size() + 1;
    for (const TimeNs cell : {1, 7, 64, 1'000, 100'000}) {
      TimeNs busy = 0, mixed = 0;
      std::size_t count = 0;
      const auto spans = ThinLane(lane, time, cell);
      for (std::size_t i = 0; i < spans.size(); ++i) {
        busy += Inside(spans[i], time);
        count += spans[i].count;
        for (const TimeNs part : spans[i].mix) mixed += part;
        mixed -= spans[i].busy;
        EXPECT_LE(spans[i].busy, spans[i].end - spans[i].start);
        if (i > 0) {
          EXPECT_GE(spans[i].start, spans[i - 1].end);
        }
      }
      EXPECT_EQ(busy, lane.Busy(time.start, time.end)) << seed << ' ' << cell;
      EXPECT_EQ(mixed, 0);
      // Those that began before are told, too.
      EXPECT_EQ(count, lane.Count(time.start, time.end) +
                           (lane.start(lane.FirstEndingAfter(time.start)) < time.start ? 1 : 0));
      EXPECT_LE(spans.size(), fewest) << "longer cells leave no more";
      fewest = spans.size();
    }
    EXPECT_LT(fewest, 600u);
  }
}

}  // namespace
}  // namespace traceinject
