// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/device_gaps.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

class DeviceGapsTest : public testing::Test {
 protected:
  // Launched at `launched`, which takes 1.
  void AddKernel(TimeNs launched, TimeNs start, TimeNs end, std::uint32_t stream = 0) {
    const std::uint32_t call = builder_.AddApi(launched, launched + 1, "cudaLaunchKernel");
    builder_.UseStream(stream);
    builder_.AddKernel(start, end, "gemm", call);
  }
  std::vector<Interval> PlannedGaps(std::vector<CaptureGap> gaps) {
    builder_.rank().gaps = std::move(gaps);
    FindDeviceGaps(builder_.rank(), ops());
    return ops().planned_gaps;
  }
  GpuOps& ops() { return builder_.ops(); }

  RankBuilder builder_;
};

TEST_F(DeviceGapsTest, WhereTheHostIsNotAheadTheyAreNearlyThoseOfTheRecording) {
  for (const TimeNs launched : {0, 20, 40, 200, 220})
    AddKernel(launched, launched + 5, launched + 15);
  EXPECT_EQ(PlannedGaps({{60, 190, "window"}}), (std::vector<Interval>{{60, 205}}));
  EXPECT_EQ(ops().unrecorded, ops().planned_gaps);
}

TEST_F(DeviceGapsTest, WhatWasLaunchedBeforeIsRecordedAndWhatWasLaunchedInOneIsNot) {
  // A queue of 50, all the time.
  for (TimeNs launched = 0; launched < 100; launched += 10)
    AddKernel(launched, launched + 50, launched + 60);
  for (TimeNs launched = 200; launched < 300; launched += 10)
    AddKernel(launched, launched + 50, launched + 60);
  EXPECT_EQ(PlannedGaps({{100, 200, "window"}, {300, kOpen, "window"}}),
            (std::vector<Interval>{{150, 250}, {350, kOpen}}));
}

TEST_F(DeviceGapsTest, TheQueueIsEmptyAfterAsLongAsItEverIs) {
  AddKernel(500, 505, 525);  // the host came late
  AddKernel(510, 525, 540);
  EXPECT_EQ(PlannedGaps({{0, 300, "window"}}), (std::vector<Interval>{{0, 330}}));
}

TEST_F(DeviceGapsTest, WhereLaunchesAreNotKnownTheFirstOperationEndsOne) {
  AddKernel(300, 400, 410);
  ops().launch = {kNone};
  EXPECT_EQ(PlannedGaps({{0, 300, "window"}}), (std::vector<Interval>{{0, 400}}));
}

TEST_F(DeviceGapsTest, OfAStreamThatDoesLittleNothingIsToBeLearnt) {
  AddKernel(305, 310, 312, 7);  // copies ahead, as it were
  AddKernel(306, 380, 480);
  AddKernel(307, 480, 580);
  EXPECT_EQ(PlannedGaps({{0, 300, "window"}}), (std::vector<Interval>{{0, 380}}));
}

TEST_F(DeviceGapsTest, OthersAreUnrecordedTime) {
  AddKernel(10, 150, 160);
  AddKernel(310, 400, 410);
  EXPECT_TRUE(PlannedGaps({{100, 200, "write_errors"}, {250, 300, "other_client"}}).empty());
  EXPECT_EQ(ops().unrecorded, (std::vector<Interval>{{100, 200}, {250, 400}}));
}

}  // namespace
}  // namespace traceinject
