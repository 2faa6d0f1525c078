// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/device_findings.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

TEST(DeviceFindings, IdleTimeCarriesItsCauseAndTheOperationThatEndedIt) {
  RankBuilder builder;
  builder.AddApi(-1 * kMs, -kMs / 2, "cudaLaunchKernel");
  builder.AddApi(9 * kMs, 9 * kMs + 5'000, "cudaLaunchKernel");
  builder.AddKernel(0, 2 * kMs, "a", 0);
  builder.AddKernel(10 * kMs, 11 * kMs, "b", 1);
  builder.AddDataWait(kMs, 9 * kMs);
  const auto found = ExamineDevice(builder.rank(), builder.rank().devices[0]);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->idle.size(), 2U);
  EXPECT_EQ(CauseOf(found->idle.ink(0)), IdleCause::kDataWait);
  EXPECT_EQ(found->idle.start(0), 2 * kMs);
  EXPECT_EQ(found->idle.end(0), 9 * kMs);
  EXPECT_EQ(CauseOf(found->idle.ink(1)), IdleCause::kLaunch);
  EXPECT_EQ(found->idle.source(1), 1U);
}

TEST(DeviceFindings, ADeviceWithoutWorkHasNothing) {
  RankBuilder builder;
  EXPECT_FALSE(ExamineDevice(builder.rank(), builder.rank().devices[0]).has_value());
}

TEST(DeviceFindings, StepsTakeTurnsAndUnusualOnesStandOut) {
  Steps steps;
  steps.steps = {{{0, 40}, kNone, true, false},
                 {{40, 50}, kNone, false, false},
                 {{50, 60}, kNone, false, false},
                 {{60, 90}, kNone, false, true}};
  const LaneEvents events = StepEvents(steps);
  const std::vector<Ink> expected = {Ink::kStepUnusual, Ink::kStepOdd, Ink::kStep,
                                     Ink::kStepUnusual};
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(events.ink(i), expected[i]) << i;
  EXPECT_EQ(events.start(3), 60);
  EXPECT_EQ(events.source(3), 3U);
}

TEST(DeviceFindings, EveryCauseHasAnInkOfItsOwn) {
  for (unsigned i = 0; i < kIdleCauses; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    EXPECT_TRUE(IsIdle(InkOf(cause)));
    EXPECT_EQ(CauseOf(InkOf(cause)), cause);
    EXPECT_EQ(CategoryOf(InkOf(cause)), Category::kHost) << "idle time is no work";
  }
  EXPECT_FALSE(IsIdle(Ink::kCollective));
}

}  // namespace
}  // namespace traceinject
