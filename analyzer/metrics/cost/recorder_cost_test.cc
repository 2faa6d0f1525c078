// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/cost/recorder_cost.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Every tenth launch waits for room in the queue, and memory is allocated slowly.
RankBuilder Launching(TimeNs launch_ns, std::size_t launches = 1000) {
  RankBuilder builder;
  TimeNs now = 0;
  for (std::size_t i = 0; i < launches; ++i) {
    const TimeNs length = i % 10 == 9 ? 1'000'000 : launch_ns;
    builder.AddApi(now, now + length, "cudaLaunchKernel");
    builder.AddApi(now + length, now + length + 90'000, "cudaMalloc");
    now += length + 100'000;
  }
  return builder;
}

TEST(RecorderCostTest, IsAShareOfWhatALaunchTakes) {
  RankBuilder fast = Launching(5'000), slow = Launching(8'000);
  const RecorderCost cost = RecorderCostOf(fast.rank());
  EXPECT_DOUBLE_EQ(cost.launch_ns, kRecordedShare * 5'000);
  EXPECT_LT(cost.low_ns, cost.launch_ns);
  EXPECT_GT(cost.high_ns, cost.launch_ns);
  EXPECT_DOUBLE_EQ(cost.resident_ns, cost.launch_ns * kResidentShare / kRecordedShare);
  EXPECT_DOUBLE_EQ(RecorderCostOf(slow.rank()).launch_ns, 1.6 * cost.launch_ns);
}

TEST(RecorderCostTest, FewLaunchesTellNothing) {
  RankBuilder builder = Launching(50'000, kMinLaunches - 1);
  const RecorderCost cost = RecorderCostOf(builder.rank());
  EXPECT_TRUE(cost.known);
  EXPECT_DOUBLE_EQ(cost.launch_ns, kRecordedShare * kUsualLaunchNs);
  EXPECT_DOUBLE_EQ(cost.low_ns, kMinRecordedShare * kFastLaunchNs);
  EXPECT_DOUBLE_EQ(cost.high_ns, kMaxRecordedShare * kSlowLaunchNs);
}

TEST(RecorderCostTest, IsUnknownWithoutLaunches) {
  RankBuilder builder = Launching(5'000, 0);
  EXPECT_FALSE(RecorderCostOf(builder.rank()).known);
  builder.rank().imported_from = "a PyTorch profiler trace";
  EXPECT_TRUE(RecorderCostOf(builder.rank()).known) << "it is none of ours";
}

TEST(RecorderCostTest, NothingStaysWhereCuptiWasTakenOut) {
  RankBuilder builder = Launching(5'000);
  builder.rank().health.push_back({"cupti", "detached", 3, ""});
  EXPECT_EQ(RecorderCostOf(builder.rank()).resident_ns, 0);
}

TEST(RecorderCostTest, OtherRecordersHaveCostsOfTheirOwn) {
  RankBuilder builder = Launching(5'000);
  builder.rank().imported_from = "a PyTorch profiler trace";
  EXPECT_EQ(RecorderCostOf(builder.rank()).high_ns, 0);
}

}  // namespace
}  // namespace traceinject
