// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/copies.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Transfer kPinned{.bytes = 1000, .kind = 1, .src_kind = 2, .dst_kind = 3, .async = true};
constexpr Transfer kPageable{.bytes = 500, .kind = 1, .src_kind = 1, .dst_kind = 3};

TEST(CopiesTest, GroupsByDirectionAndMemory) {
  RankBuilder builder;
  builder.AddCopy(0, 100, kPinned);
  builder.AddKernel(50, 150, "k");
  builder.AddCopy(90, 200,
                  kPinned);  // overlaps the first: merged [0, 200), exposed [0, 50) and [150, 200)
  builder.AddCopy(120, 160, kPageable);  // exposed [150, 160)
  builder.AddMemset(300, 310, 64);
  const std::vector<CopyStats> copies =
      CountCopies(builder.rank(), builder.ops(), {{0, 5}}, {{0, 310}});
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_EQ(CopyKindName(copies[0].kind), "HtoD");
  EXPECT_EQ(MemoryKindName(copies[0].src_kind), "pinned");
  EXPECT_EQ(MemoryKindName(copies[0].dst_kind), "device");
  EXPECT_EQ(copies[0].count, 2);
  EXPECT_EQ(copies[0].async_count, 2);
  EXPECT_EQ(copies[0].bytes, 2000);
  EXPECT_EQ(copies[0].total_ns, 210);
  EXPECT_DOUBLE_EQ(*copies[0].gb_per_s(), 2000.0 / 210);
  EXPECT_EQ(copies[0].exposed_ns, 100);
  EXPECT_EQ(MemoryKindName(copies[1].src_kind), "pageable");
  EXPECT_EQ(copies[1].async_count, 0);
  EXPECT_EQ(copies[1].exposed_ns, 10);
  EXPECT_TRUE(copies[2].is_memset);
  EXPECT_EQ(copies[2].exposed_ns, 10);
}

TEST(CopiesTest, ExposedTimeIsClippedToTheWindowButLengthIsWhole) {
  RankBuilder builder;
  builder.AddCopy(0, 100, kPinned);
  const std::vector<CopyStats> copies =
      CountCopies(builder.rank(), builder.ops(), {{0, 1}}, {{0, 40}});
  EXPECT_EQ(copies[0].total_ns, 100);
  EXPECT_EQ(copies[0].exposed_ns, 40);
}

// As the merged times of each kind, less those of the kernels, tell.
TEST(CopiesTest, ExposedTimesOfManyOverlappingOperations) {
  std::mt19937 random(3);
  const auto below = [&random](unsigned most) { return static_cast<TimeNs>(random() % most); };
  for (int round = 0; round < 50; ++round) {
    RankBuilder builder;
    Intervals pinned, pageable, kernels;
    TimeNs start = 0;
    for (int i = 0; i < 40; ++i) {
      start += below(10);
      const TimeNs end = start + below(30);
      const TimeNs kind = below(3);
      if (kind == 0) builder.AddKernel(start, end, "k");
      if (kind == 1) builder.AddCopy(start, end, kPinned);
      if (kind == 2) builder.AddCopy(start, end, kPageable);
      (kind == 0 ? kernels : kind == 1 ? pinned : pageable).push_back({start, end});
    }
    const Interval window{below(50), 60 + below(100)};
    const OpRange range = StartingIn(builder.ops(), window);
    const auto exposed = [&](Intervals copies) {
      std::erase_if(copies, [&](const Interval& one) { return one.start < window.start; });
      return Length(Subtract(Clip(Merge(copies), window), Merge(kernels)));
    };
    for (const CopyStats& stats : CountCopies(builder.rank(), builder.ops(), {range}, {window})) {
      EXPECT_EQ(stats.exposed_ns, exposed(stats.src_kind == kPinned.src_kind ? pinned : pageable));
    }
  }
}

TEST(CopiesTest, NoTimeNoRate) {
  RankBuilder builder;
  builder.AddCopy(5, 5, kPinned);
  EXPECT_FALSE(CountCopies(builder.rank(), builder.ops(), {{0, 1}}, {{0, 10}})[0].gb_per_s());
}

TEST(CopiesTest, DevicesAddUp) {
  RankBuilder builder;
  builder.AddCopy(0, 100, kPinned);
  builder.AddCopy(100, 120, kPageable);
  const auto one = CountCopies(builder.rank(), builder.ops(), {{0, 2}}, {{0, 120}});
  const std::vector<CopyStats> sum = MergeCopies({one, one, {}});
  ASSERT_EQ(sum.size(), 2u);
  EXPECT_EQ(sum[0].bytes, 2000);
  EXPECT_EQ(sum[0].total_ns, 200);
  EXPECT_EQ(sum[1].exposed_ns, 40);
}

TEST(CopiesTest, CopiesOfUnknownKindAreNoMemsets) {
  RankBuilder builder;
  builder.AddCopy(0, 100, {.bytes = 1'000});
  builder.AddMemset(100, 150, 64);
  const auto copies = CountCopies(builder.rank(), builder.ops(), {{0, 2}}, {{0, 150}});
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_FALSE(copies[0].is_memset);
  EXPECT_EQ(copies[0].bytes, 1'000);
  EXPECT_EQ(MergeCopies({copies, copies}).size(), 2u);
}

TEST(CopiesTest, UndefinedKindsAreUnknown) {
  EXPECT_EQ(CopyKindName(0), "unknown");
  EXPECT_EQ(CopyKindName(99), "unknown");
  EXPECT_EQ(MemoryKindName(99), "unknown");
}

}  // namespace
}  // namespace traceinject
