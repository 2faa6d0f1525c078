// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/queue_depth.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/rank_builder.h"

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

}  // namespace
}  // namespace traceinject
