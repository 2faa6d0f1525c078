// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/memory_calls.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Interval kWindow = {1'000, 10'000};

TEST(MemoryCalls, CountsTheWindowAndHoldsWhatWasAllocatedBefore) {
  RankBuilder builder;
  builder.AddMemory(500, 100, 0xA);  // before the window: held, not counted
  builder.AddMemory(2'000, 50, 0xB, builder.AddApi(2'000, 2'300, "cudaMalloc"));
  builder.ReleaseMemory(3'000, 0xA, builder.AddApi(3'000, 3'100, "cudaFree"));
  builder.AddMemory(4'000, 70, 0xC);
  builder.ReleaseMemory(5'000, 0xD);           // allocated before recording began
  builder.AddMemory(20'000, 900, 0xE);         // after the window
  builder.AddApi(6'000, 7'000, "cudaMalloc");  // of which no operation came
  const MemoryCalls found = CountMemoryCalls(builder.rank(), 0, {kWindow});
  EXPECT_EQ(found.allocations, 2);
  EXPECT_EQ(found.releases, 2);
  EXPECT_EQ(found.allocated_bytes, 120);
  EXPECT_EQ(found.peak_bytes, 150);
  EXPECT_EQ(found.call_ns, 400);
  EXPECT_TRUE(found.any());
}

TEST(MemoryCalls, PinnedMemoryAndOtherDevicesAreApart) {
  RankBuilder builder;
  builder.AddMemory(2'000, 50, 0xA);
  builder.rank().memory.memory_kind.back() = 2;
  builder.AddMemory(2'000, 60, 0xA);
  builder.rank().memory.device.back() = 1;
  const MemoryCalls found = CountMemoryCalls(builder.rank(), 0, {kWindow});
  EXPECT_EQ(found.host_allocations, 1);
  EXPECT_EQ(found.host_bytes, 50);
  EXPECT_EQ(found.allocations, 0);
  EXPECT_EQ(found.peak_bytes, 0);
  EXPECT_EQ(CountMemoryCalls(builder.rank(), 1, {kWindow}).peak_bytes, 60);
}

TEST(MemoryCalls, AnAddressThatComesAgainReplacesItself) {
  RankBuilder builder;
  builder.AddMemory(2'000, 50, 0xA);
  builder.AddMemory(3'000, 60, 0xA);
  EXPECT_EQ(CountMemoryCalls(builder.rank(), 0, {kWindow}).peak_bytes, 60);
}

TEST(MemoryCalls, AreAddedUpButForThePeak) {
  MemoryCalls one, other;
  one.allocations = 1, one.peak_bytes = 10, one.call_ns = 5;
  other.allocations = 2, other.peak_bytes = 7, other.host_bytes = 3;
  const MemoryCalls sum = MergeMemoryCalls({one, other});
  EXPECT_EQ(sum.allocations, 3);
  EXPECT_EQ(sum.peak_bytes, 10);
  EXPECT_EQ(sum.host_bytes, 3);
  EXPECT_EQ(sum.call_ns, 5);
  EXPECT_FALSE(MergeMemoryCalls({}).any());
}

}  // namespace
}  // namespace traceinject
