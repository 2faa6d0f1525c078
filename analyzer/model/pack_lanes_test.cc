// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/pack_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

const Ink kCompute = InkOf(KernelClass::kGemm), kComm = InkOf(KernelClass::kComm),
          kCopy = InkOf(KernelClass::kMemcpy);

LaneEvents RandomEvents(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<TimeNs> moment(0, 20'000), length(0, 300);
  std::uniform_int_distribution<int> ink(0, 2);
  std::vector<TimeNs> starts(500);
  for (TimeNs& start : starts) start = moment(random);
  std::sort(starts.begin(), starts.end());
  LaneEvents events;
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    const Ink inks[] = {kCompute, kComm, kCopy};
    events.Add(starts[i], starts[i] + length(random), i, inks[ink(random)]);
  }
  return events;
}

Intervals OfCategory(const LaneEvents& events, Category category) {
  Intervals intervals;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (CategoryOf(events.ink(i)) == category) {
      intervals.push_back({events.start(i), events.end(i)});
    }
  }
  return Merge(std::move(intervals));
}

Intervals AsIntervals(const LaneEvents& events) {
  Intervals intervals;
  for (std::size_t i = 0; i < events.size(); ++i) {
    intervals.push_back({events.start(i), events.end(i)});
  }
  return Merge(std::move(intervals));
}

std::vector<std::uint32_t> Sources(const LaneEvents& lane) {
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 0; i < lane.size(); ++i) sources.push_back(lane.source(i));
  return sources;
}

void ExpectNoOverlap(const LaneEvents& lane) {
  for (std::size_t i = 1; i < lane.size(); ++i) {
    ASSERT_GE(lane.start(i), std::max(lane.end(i - 1), lane.start(i - 1) + 1)) << i;
  }
}

PackedLanes PackLanes(const LaneEvents& events) {
  LanePacker packer;
  for (std::size_t event = 0; event < events.size(); ++event) {
    packer.Add(events.start(event), events.end(event), events.source(event), events.ink(event));
  }
  return packer.Take();
}

TEST(PackLanes, EveryEventIsInOneLaneAndNoneOverlap) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const LaneEvents events = RandomEvents(seed);
    const PackedLanes packed = PackLanes(events);
    EXPECT_EQ(packed.hidden, 0U);
    std::multiset<std::uint32_t> sources;
    for (const LaneEvents& lane : packed.lanes) {
      ExpectNoOverlap(lane);
      for (const std::uint32_t source : Sources(lane)) sources.insert(source);
    }
    EXPECT_EQ(std::set(sources.begin(), sources.end()).size(), events.size());
    EXPECT_EQ(sources.size(), events.size());
  }
}

TEST(PackLanes, NestedRangesStandByDepth) {
  LaneEvents events;  // sorted by (start, end), as the model's columns are
  events.Add(0, 10, 2, Ink::kNvtx);
  events.Add(0, 50, 1, Ink::kNvtx);
  events.Add(0, 100, 0, Ink::kNvtx);
  events.Add(20, 30, 3, Ink::kNvtx);
  events.Add(60, 70, 4, Ink::kNvtx);
  events.Add(100, 120, 5, Ink::kNvtx);
  const PackedLanes packed = PackLanes(events);
  ASSERT_EQ(packed.lanes.size(), 3U);
  EXPECT_EQ(Sources(packed.lanes[0]), (std::vector<std::uint32_t>{0, 5}));
  EXPECT_EQ(Sources(packed.lanes[1]), (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(Sources(packed.lanes[2]), (std::vector<std::uint32_t>{2, 3}));
}

TEST(PackLanes, EventsWithoutLengthDoNotHideWhatStartsWithThem) {
  LaneEvents events;
  events.Add(10, 10, 0, Ink::kNvtx);
  events.Add(10, 10, 1, Ink::kNvtx);
  events.Add(10, 40, 2, Ink::kNvtx);
  const PackedLanes packed = PackLanes(events);
  ASSERT_EQ(packed.lanes.size(), 3U);
  EXPECT_EQ(packed.lanes[0].source(0), 2U);
}

TEST(PackLanes, WhatDoesNotFitIsCounted) {
  LaneEvents events;
  for (std::uint32_t i = 0; i < kMaxLanes + 7; ++i) events.Add(i, 1'000'000, i, Ink::kNvtx);
  const PackedLanes packed = PackLanes(events);
  EXPECT_EQ(packed.lanes.size(), kMaxLanes);
  EXPECT_EQ(packed.hidden, 7U);
}

TEST(BesideFirst, IsTheUnionWithoutTheFirstLane) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const LaneEvents events = RandomEvents(seed);
    const PackedLanes packed = PackLanes(events);
    const LaneEvents beside = BesideFirst(packed);
    ASSERT_GT(beside.size(), 0U);
    ExpectNoOverlap(beside);
    EXPECT_EQ(AsIntervals(beside), Subtract(AsIntervals(events), AsIntervals(packed.lanes[0])));
  }
}

TEST(BesideFirst, OfOneLaneIsEmpty) {
  LaneEvents events;
  events.Add(0, 10, 0, Ink::kNvtx);
  EXPECT_EQ(BesideFirst(PackLanes(events)).size(), 0U);
  EXPECT_EQ(BesideFirst({}).size(), 0U);
}

TEST(FlattenByCategory, IsThePartitionOfBusyTime) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const LaneEvents events = RandomEvents(seed);
    const LaneEvents flat = FlattenByCategory(events);
    ExpectNoOverlap(flat);
    const Intervals compute = OfCategory(events, Category::kCompute),
                    comm = OfCategory(events, Category::kCommunication),
                    copy = OfCategory(events, Category::kCopy);
    EXPECT_EQ(OfCategory(flat, Category::kCompute), compute);
    EXPECT_EQ(OfCategory(flat, Category::kCommunication), Subtract(comm, compute));
    EXPECT_EQ(OfCategory(flat, Category::kCopy), Subtract(Subtract(copy, comm), compute));
    for (std::size_t i = 0; i < flat.size(); ++i) {
      const std::uint32_t source = flat.source(i);
      EXPECT_GE(flat.start(i), events.start(source));
      EXPECT_LE(flat.end(i), events.end(source));
      EXPECT_EQ(flat.ink(i), events.ink(source));
    }
  }
}

}  // namespace
}  // namespace traceinject
