// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/window.h"

#include <gtest/gtest.h>

#include <limits>

#include "analyzer/metrics/rank_builder.h"

namespace traceinject {
namespace {

RankBuilder TwoKernels() {
  RankBuilder builder;
  builder.AddKernel(100, 200, "a");
  builder.AddKernel(150, 400, "b");
  builder.AddKernel(160, 180, "c");
  return builder;
}

TEST(WindowTest, OriginIsTheFirstOperationOfAnyDevice) {
  traceinject::Run run;
  EXPECT_FALSE(RunOrigin(run));
  run.ranks.push_back(TwoKernels().rank());
  RankBuilder other;
  other.AddDevice("NVIDIA H200");
  other.AddKernel(70, 90, "x", kNone, 1);
  run.ranks.push_back(other.rank());
  EXPECT_EQ(RunOrigin(run), 70);
}

TEST(WindowTest, DefaultIsFirstStartToLastEnd) {
  RankBuilder builder = TwoKernels();
  const auto window = DeviceWindow(builder.ops(), 100, {});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->time, (Interval{100, 400}));
  EXPECT_FALSE(window->restricted);
  EXPECT_FALSE(DeviceWindow(GpuOps{}, 100, {}));
}

TEST(WindowTest, OfARecordingInWindowsTheLongest) {
  RankBuilder builder = TwoKernels();
  GpuOps& ops = builder.rank().devices[0].ops;
  const Window all{{100, 400}, false};
  EXPECT_EQ(LongestRecorded(ops, all).time, all.time);
  ops.planned_gaps = {{0, 120}, {200, 210}, {390, kOpen}};
  EXPECT_EQ(LongestRecorded(ops, all).time, (Interval{210, 390}));
  EXPECT_EQ(LongestRecorded(ops, {{100, 205}, false}).time, (Interval{120, 200}));
  EXPECT_EQ(LongestRecorded(ops, {{220, 380}, false}).time, (Interval{220, 380}));
}

TEST(WindowTest, OfARecordingInWindowsThoseWithoutLaunchesGiveWay) {
  RankBuilder builder = TwoKernels();
  GpuOps& ops = builder.rank().devices[0].ops;
  ops.planned_gaps = {{155, 157}};
  const Window all{{100, 400}, false};
  EXPECT_EQ(LongestRecorded(ops, all).time, (Interval{157, 400})) << "none has any";
  ops.launch = {7, kNone, kNone};
  EXPECT_EQ(LongestRecorded(ops, all).time, (Interval{100, 155}));
  ops.launch = {7, kNone, 8};
  EXPECT_EQ(LongestRecorded(ops, all).time, (Interval{157, 400}));
}

TEST(WindowTest, LimitsAreRelativeToTheOriginAndOnlyCut) {
  RankBuilder builder = TwoKernels();
  auto window = DeviceWindow(builder.ops(), 90, {.from_ns = 20, .to_ns = 1000});
  ASSERT_TRUE(window);
  EXPECT_EQ(window->time, (Interval{110, 400}));
  EXPECT_TRUE(window->restricted);
  EXPECT_FALSE(DeviceWindow(builder.ops(), 90, {.from_ns = 310}));
  EXPECT_FALSE(DeviceWindow(builder.ops(), 90, {.from_ns = 50, .to_ns = 40}));
}

TEST(WindowTest, ExtremeLimitsDoNotWrapAround) {
  RankBuilder builder = TwoKernels();
  constexpr TimeNs kMax = std::numeric_limits<TimeNs>::max();
  EXPECT_EQ(DeviceWindow(builder.ops(), 90, {.from_ns = -kMax, .to_ns = kMax})->time,
            (Interval{100, 400}));
  EXPECT_FALSE(DeviceWindow(builder.ops(), 90, {.from_ns = kMax}));
}

}  // namespace
}  // namespace traceinject
