// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/replay_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr int kSteps = 12, kKernels = 20;

// Steps of kernels of 50 us that are launched ahead, with a gap before each.
std::optional<ReplayCheck> Check(const std::function<TimeNs(int step, int kernel)>& gap_ns,
                                 int steps = kSteps) {
  RankBuilder builder;
  TimeNs host = 0, gpu = 100 * kUs;
  for (int step = 0; step < steps; ++step) {
    for (int k = 0; k < kKernels; ++k) {
      const std::uint32_t call = builder.AddApi(host, host + 4 * kUs, "cudaLaunchKernel");
      const TimeNs start = gpu + gap_ns(step, k);
      gpu = start + 50 * kUs;
      builder.AddKernel(start, gpu, "ampere_sgemm_128x64_nn", call);
      host += 10 * kUs;
    }
    builder.AddStepMark(host);
  }
  builder.rank().end = gpu;
  const Rank& rank = builder.rank();
  const Device& device = rank.devices[0];
  const Steps found = FindSteps(rank, device, {device.ops.start.front(), gpu});
  const HostTimeline timeline = BuildHostTimeline(rank, device);
  const GapCauses causes = SplitSteps(rank, device, timeline, found);
  return CheckReplay(Replay(rank, device, timeline, causes, found), rank, device, found);
}

TEST(ReplayCheckTest, WhatRepeatsIsForetold) {
  const auto check = Check([](int, int k) { return k == 7 ? 900 : 500; });
  ASSERT_TRUE(check);
  EXPECT_GE(check->steps, 10U);
  EXPECT_LT(check->error, 1e-4);
  EXPECT_LT(check->worst_step_error, 1e-4);
  EXPECT_LT(check->residual_share, 1e-4);
}

// The replay itself would not notice: it takes each gap from the recording.
TEST(ReplayCheckTest, WhatOnlyOneHalfHasIsNot) {
  const auto check = Check([](int step, int) { return step % 2 == 0 ? 3 * kUs : 500; });
  ASSERT_TRUE(check);
  EXPECT_NEAR(check->median_step_error, 0.05, 0.01) << "2.5 of 50 us too many, or too few";
  EXPECT_LT(check->error, 0.01) << "the mean is the same";
}

TEST(ReplayCheckTest, GapsThatNothingExplainsAreResiduals) {
  const auto check = Check([](int, int k) { return k % 4 == 0 ? 41 * kUs : 500; });
  ASSERT_TRUE(check);
  EXPECT_LT(check->error, 1e-3) << "they are there in each step";
  EXPECT_NEAR(check->residual_share, 10.0 / 60.6, 0.02);
}

TEST(ReplayCheckTest, StepsThatDifferAreForetoldByKind) {
  const auto check = Check([](int step, int k) { return step == 5 && k == 3 ? 30 * kUs : 700; });
  ASSERT_TRUE(check);
  EXPECT_LT(check->error, 5e-3);
  EXPECT_GT(check->worst_step_error, 0.02);
}

TEST(ReplayCheckTest, OfALongRunTheFirstStepsAreForetold) {
  const auto check =
      Check([](int step, int) { return step < 25'100 || step % 2 == 0 ? 500 : 3 * kUs; }, 26'000);
  ASSERT_TRUE(check);
  EXPECT_NEAR(static_cast<double>(check->steps), 25'000, 20) << "of 20 operations";
  EXPECT_LT(check->error, 1e-4);
  EXPECT_LT(check->worst_step_error, 1e-3);
}

TEST(ReplayCheckTest, TooFewStepsSayNothing) {
  EXPECT_FALSE(Check([](int, int) { return 500; }, 2));
}

}  // namespace
}  // namespace traceinject
