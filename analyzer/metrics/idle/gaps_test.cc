// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/gaps.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/metrics/idle/partition.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Kernels with gaps of every cause: [100, 200) host late by 70, [300, 400) latency 80, [500, 600)
// queued, [700, 800) unknown.
RankBuilder EveryCause() {
  RankBuilder builder;
  const std::uint32_t first = builder.AddApi(-10, -5, "cudaLaunchKernel");
  const std::uint32_t late = builder.AddApi(170, 175, "cudaLaunchKernel");
  const std::uint32_t latency = builder.AddApi(320, 325, "cudaLaunchKernel");
  const std::uint32_t queued = builder.AddApi(500, 505, "cudaLaunchKernel");
  builder.AddKernel(0, 100, "a", first);
  builder.AddKernel(200, 300, "b", late);
  builder.AddKernel(400, 500, "c", latency);
  builder.AddKernel(600, 700, "d", queued);
  builder.AddKernel(800, 900, "e");
  return builder;
}

TEST(GapsTest, CausesAndTheirSums) {
  RankBuilder builder = EveryCause();
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 900}}, 10);
  ASSERT_EQ(gaps.longest.size(), 4u);
  EXPECT_EQ(gaps.causes.gap_count, 4);
  EXPECT_EQ(gaps.causes.host_late_ns, 70 + 20);
  EXPECT_EQ(gaps.causes.launch_latency_ns, 30 + 80);
  EXPECT_EQ(gaps.causes.queued_ns, 100);
  EXPECT_EQ(gaps.causes.unknown_ns, 100);

  // Of equal length: by start.
  EXPECT_EQ(gaps.longest[0].cause, GapCause::kHostLate);
  EXPECT_EQ(gaps.longest[0].time, (Interval{100, 200}));
  EXPECT_EQ(gaps.longest[0].op, 1u);
  EXPECT_EQ(gaps.longest[0].host_late_ns, 70);
  EXPECT_EQ(gaps.longest[1].cause, GapCause::kLaunchLatency);
  EXPECT_EQ(gaps.longest[2].cause, GapCause::kQueued);
  EXPECT_EQ(gaps.longest[3].cause, GapCause::kUnknown);
  EXPECT_EQ(gaps.longest[3].launch, kNone);
}

// The default latency is 8 us. From one operation that is queued to the next the device takes less
// than the last gap.
TEST(GapsTest, LaunchedBeforeTheGapAndStillOnItsWay) {
  RankBuilder builder;
  const std::uint32_t first = builder.AddApi(-8'000, -6'000, "cudaLaunchKernel");
  const std::uint32_t on_its_way = builder.AddApi(1'000, 2'000, "cudaLaunchKernel");
  const std::uint32_t queued = builder.AddApi(7'000, 7'500, "cudaLaunchKernel");
  builder.AddKernel(0, 2'000, "a", first);
  builder.AddKernel(6'000, 9'000, "b", on_its_way);
  builder.AddKernel(11'000, 12'000, "c", queued);
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 12'000}}, 10);
  ASSERT_EQ(gaps.longest.size(), 2u);
  EXPECT_EQ(gaps.longest[0].cause, GapCause::kLaunchLatency);
  EXPECT_EQ(gaps.longest[1].cause, GapCause::kQueued);
  EXPECT_EQ(gaps.causes.host_late_ns, 0);
  EXPECT_EQ(gaps.causes.launch_latency_ns, 4'000);
  EXPECT_EQ(gaps.causes.queued_ns, 2'000);
}

TEST(GapsTest, WindowCutsGaps) {
  RankBuilder builder = EveryCause();
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{150, 350}}, 10);
  ASSERT_EQ(gaps.longest.size(), 2u);
  EXPECT_EQ(gaps.longest[0].time, (Interval{150, 200}));
  EXPECT_EQ(gaps.longest[1].time, (Interval{300, 350}));
  // The kernel that ends this gap lies behind the window; its launch still explains it.
  EXPECT_EQ(gaps.longest[1].op, 2u);
  EXPECT_EQ(gaps.longest[1].launch_latency_ns, 30);
}

TEST(GapsTest, NothingEndsTheLastGapOfAWindow) {
  RankBuilder builder = EveryCause();
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{850, 1000}}, 10);
  ASSERT_EQ(gaps.longest.size(), 1u);
  EXPECT_EQ(gaps.longest[0].time, (Interval{900, 1000}));
  EXPECT_EQ(gaps.longest[0].op, kNone);
  EXPECT_EQ(gaps.causes.unknown_ns, 100);
}

TEST(GapsTest, OnlyTheLongestAreKept) {
  RankBuilder builder;
  for (TimeNs i = 0; i < 100; ++i)
    builder.AddKernel(i * 1000, i * 1000 + 500 - (i * 37) % 101, "k");
  const Gaps all = FindGaps(builder.ops(), builder.rank().api, {{0, 99'500}}, 1000);
  const Gaps few = FindGaps(builder.ops(), builder.rank().api, {{0, 99'500}}, 7);
  ASSERT_EQ(few.longest.size(), 7u);
  EXPECT_EQ(few.causes.gap_count, all.causes.gap_count);
  for (std::size_t i = 0; i < few.longest.size(); ++i)
    EXPECT_EQ(few.longest[i].time, all.longest[i].time);
  EXPECT_TRUE(FindGaps(builder.ops(), builder.rank().api, {{0, 99'500}}, 0).longest.empty());
}

TEST(GapsTest, CausesAddUpToTheIdleTimeOfThePartition) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int run = 0; run < 300; ++run) {
    RankBuilder builder;
    TimeNs start = 0;
    for (int i = pick(1, 30); i > 0; --i) {
      const std::uint32_t launch =
          pick(0, 3) == 0 ? kNone : builder.AddApi(start - pick(0, 30), start, "cudaLaunchKernel");
      builder.AddKernel(start, start + pick(0, 20), "k", launch);
      start += pick(0, 25);
    }
    const Interval window{pick(-20, 50), pick(51, 400)};
    const IdleCauses causes = FindGaps(builder.ops(), builder.rank().api, {window}, 3).causes;
    ASSERT_EQ(causes.host_late_ns + causes.launch_latency_ns + causes.queued_ns + causes.unknown_ns,
              PartitionOf(builder.ops(), window).idle_ns);
    // Several windows, as they are between steps that do not count: nothing of what lies between.
    const Interval later{window.end + pick(1, 60), window.end + pick(61, 200)};
    const IdleCauses both = FindGaps(builder.ops(), builder.rank().api, {window, later}, 3).causes;
    ASSERT_EQ(
        both.host_late_ns + both.launch_latency_ns + both.queued_ns + both.unknown_ns,
        PartitionOf(builder.ops(), window).idle_ns + PartitionOf(builder.ops(), later).idle_ns);
  }
}

}  // namespace
}  // namespace traceinject
