// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/queue_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(QueueDepth, CountsWhatIsLaunchedAndHasNotBegun) {
  RankBuilder builder;
  for (TimeNs i = 0; i < 3; ++i) builder.AddApi(10 * i, 10 * i + 2, "cudaLaunchKernel");
  builder.AddKernel(5, 50, "a", 0);
  builder.AddKernel(50, 90, "b", 1);
  builder.AddKernel(90, 95, "c", 2);
  const CounterSeries depth = QueueDepth(builder.rank(), builder.rank().devices[0]);
  const std::pair<TimeNs, std::int32_t> expected[] = {{-1, 0}, {0, 1},  {4, 1},  {5, 0},  {10, 1},
                                                      {20, 2}, {49, 2}, {50, 1}, {89, 1}, {90, 0}};
  for (const auto& [time, value] : expected) EXPECT_EQ(depth.At(time), value) << "at " << time;
}

TEST(QueueDepth, AGraphLaunchPutsAllItsKernelsInTheQueue) {
  RankBuilder builder;
  builder.AddApi(0, 5, "cudaGraphLaunch");
  for (TimeNs i = 0; i < 4; ++i) builder.AddKernel(10 + 10 * i, 20 + 10 * i, "node", 0);
  const CounterSeries depth = QueueDepth(builder.rank(), builder.rank().devices[0]);
  EXPECT_EQ(depth.At(0), 4);
  EXPECT_EQ(depth.At(10), 3);
  EXPECT_EQ(depth.At(39), 1);
  EXPECT_EQ(depth.At(40), 0);
}

TEST(QueueDepth, AGraphMayBeOfManyKernels) {
  constexpr TimeNs kKernels = 1'000;
  RankBuilder builder;
  builder.AddApi(0, 5, "cudaGraphLaunch");
  for (TimeNs i = 0; i < kKernels; ++i) builder.AddKernel(10 + i, 11 + i, "node", 0);
  const Device& device = builder.rank().devices[0];
  EXPECT_EQ(QueueDepth(builder.rank(), device).At(0), kKernels);
  const auto found = SummarizeQueue(builder.rank(), device, {{0, 10 + kKernels}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->operations, kKernels);
  EXPECT_EQ(found->empty_ns, 1);  // while the last one runs
}

TEST(QueueDepth, WhatHappensAtOneTimeIsOnePoint) {
  RankBuilder builder;
  builder.AddApi(10, 12, "cudaLaunchKernel");
  builder.AddApi(10, 12, "cudaLaunchKernel");
  builder.AddKernel(10, 20, "at once", 0);
  builder.AddKernel(30, 40, "later", 1);
  const CounterSeries depth = QueueDepth(builder.rank(), builder.rank().devices[0]);
  EXPECT_EQ(depth.size(), 2U);
  EXPECT_EQ(depth.Range(0, 100), (CounterRange{0, 1}));
}

TEST(QueueDepth, LeavesOutWhatHasNoLaunchOrBeganBeforeIt) {
  RankBuilder builder;
  builder.AddApi(100, 105, "cudaLaunchKernel");
  builder.AddKernel(10, 20, "not recorded");
  builder.AddKernel(99, 120, "before its launch", 0);
  EXPECT_EQ(QueueDepth(builder.rank(), builder.rank().devices[0]).size(), 0U);
}

// The depth at every moment, one by one.
TEST(QueueSummary, AsCountedMomentByMoment) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    RankBuilder builder;
    TimeNs now = 0, gpu = 0;
    for (std::uint32_t i = 0; i < 30; ++i) {
      now += 1 + static_cast<TimeNs>(random() % 20);
      const std::uint32_t call = builder.AddApi(now, now + 1, "cudaLaunchKernel");
      gpu = std::max(gpu, now) + static_cast<TimeNs>(random() % 15);
      builder.AddKernel(gpu, gpu + 5, "k", random() % 8 == 0 ? kNone : call);
      gpu += 5;
    }
    const TimeNs a = static_cast<TimeNs>(random() % 100);
    const Intervals times = {{a, a + 50}, {a + 80, a + 200}};
    const Rank& rank = builder.rank();
    const CounterSeries depth = QueueDepth(rank, rank.devices[0]);
    std::vector<std::int64_t> depths, slack;
    const GpuOps& ops = rank.devices[0].ops;
    for (const Interval& time : times) {
      for (TimeNs t = time.start; t < time.end; ++t) depths.push_back(depth.At(t));
      for (std::size_t op = 0; op < ops.size(); ++op) {
        if (ops.launch[op] != kNone && ops.start[op] >= time.start && ops.start[op] < time.end)
          slack.push_back(ops.start[op] - rank.api.start[ops.launch[op]]);
      }
    }
    std::sort(depths.begin(), depths.end());
    std::sort(slack.begin(), slack.end());
    const auto found = SummarizeQueue(rank, rank.devices[0], times);
    ASSERT_EQ(found.has_value(), !slack.empty());
    if (!found) continue;
    const auto at = [](const std::vector<std::int64_t>& values, double share) {
      return values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
    };
    EXPECT_EQ(found->operations, static_cast<std::int64_t>(slack.size()));
    EXPECT_EQ(found->slack_median_ns, at(slack, 0.5));
    EXPECT_EQ(found->slack_low_ns, at(slack, 0.05));
    EXPECT_EQ(found->time_ns, 170);
    EXPECT_EQ(found->empty_ns, std::count(depths.begin(), depths.end(), 0));
    EXPECT_EQ(found->depth_median, at(depths, 0.5));
    EXPECT_EQ(found->depth_low, at(depths, 0.05));
  }
}

TEST(QueueSummary, NothingWithoutLaunches) {
  RankBuilder builder;
  builder.AddKernel(10, 20, "not recorded");
  EXPECT_FALSE(SummarizeQueue(builder.rank(), builder.rank().devices[0], {{0, 100}}));
  EXPECT_FALSE(SummarizeQueue(builder.rank(), builder.rank().devices[0], {}));
}

}  // namespace
}  // namespace traceinject
