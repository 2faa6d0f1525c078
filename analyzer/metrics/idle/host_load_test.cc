// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_load.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

class HostLoadTest : public testing::Test {
 protected:
  void Sample(TimeNs time, std::uint32_t thread, std::int64_t cpu_ns,
              std::int64_t runqueue_ns = -1) {
    HostSamples& samples = rank_.host_samples;
    samples.runqueue_ns.push_back(runqueue_ns);
    samples.time.push_back(time);
    samples.thread.push_back(thread);
    samples.cpu_ns.push_back(cpu_ns);
  }
  std::optional<double> Load() const {
    return LoadOfFeeders(rank_, timeline_, {kSecond, 10 * kSecond});
  }

  Rank rank_;
  HostTimeline timeline_{.segments = {}, .feeders = {true, true, false}};
};

TEST_F(HostLoadTest, ThreadsThatLaunchTakeTurns) {
  Sample(2 * kSecond, 0, 100);
  Sample(2 * kSecond, 1, 0);
  Sample(6 * kSecond, 0, 100 + 3 * kSecond);
  Sample(6 * kSecond, 1, kSecond);
  ASSERT_TRUE(Load());
  EXPECT_DOUBLE_EQ(*Load(), 1);
}

TEST_F(HostLoadTest, OthersAndOtherTimesDoNotCount) {
  Sample(0, 0, 0);
  Sample(2 * kSecond, 0, kSecond);
  Sample(2 * kSecond, 2, 0);
  Sample(4 * kSecond, 0, 2 * kSecond);
  Sample(4 * kSecond, 2, 2 * kSecond);
  Sample(20 * kSecond, 0, 18 * kSecond);
  ASSERT_TRUE(Load());
  EXPECT_DOUBLE_EQ(*Load(), 0.5);
}

TEST_F(HostLoadTest, OneSampleSaysNothing) {
  EXPECT_FALSE(Load());
  Sample(2 * kSecond, 0, kSecond);
  Sample(3 * kSecond, 1, -1);
  EXPECT_FALSE(Load());
}

TEST_F(HostLoadTest, WaitsForAProcessorAreThoseOfFeedersInTheTimes) {
  const Intervals times = {{2 * kSecond, 4 * kSecond}, {6 * kSecond, 8 * kSecond}};
  EXPECT_FALSE(ProcessorWaitOfFeeders(rank_, timeline_, times));
  Sample(0, 0, 0, 0);
  Sample(0, 1, 0, 7 * kSecond);
  Sample(0, 2, 0, 0);
  Sample(3 * kSecond, 0, 0, 3 * kSecond / 10);  // a tenth of the time, a second of it inside
  Sample(8 * kSecond, 0, 0, 3 * kSecond / 10);
  Sample(8 * kSecond, 1, 0, 7 * kSecond + 4 * kSecond / 10);  // half of it inside
  Sample(8 * kSecond, 2, 0, 8 * kSecond);
  ASSERT_TRUE(ProcessorWaitOfFeeders(rank_, timeline_, times));
  EXPECT_NEAR(*ProcessorWaitOfFeeders(rank_, timeline_, times), 0.3 * kSecond, 10);
}

TEST_F(HostLoadTest, WaitsForAProcessorAreScaledToTheTimesIfMostIsSampled) {
  Sample(0, 0, 0, 0);
  Sample(3 * kSecond, 0, 0, kSecond);
  EXPECT_NEAR(*ProcessorWaitOfFeeders(rank_, timeline_, {{0, 4 * kSecond}}), 4 * kSecond / 3.0, 10);
  EXPECT_FALSE(ProcessorWaitOfFeeders(rank_, timeline_, {{0, 8 * kSecond}}));
  EXPECT_FALSE(ProcessorWaitOfFeeders(rank_, timeline_, {{4 * kSecond, 5 * kSecond}}));
}

}  // namespace
}  // namespace traceinject
