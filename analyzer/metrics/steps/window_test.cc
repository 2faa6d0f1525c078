// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "analyzer/model/testing/rank_builder.h"

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

// Four parts of 100 ns, from 0, 200, 400 and 600 on, with ten operations each.
RankBuilder FourParts() {
  RankBuilder builder;
  for (int part = 0; part < 4; ++part) {
    for (int i = 0; i < 10; ++i)
      builder.AddKernel(part * 200 + i * 10, part * 200 + i * 10 + 10, "a", 0);
  }
  builder.ops().planned_gaps = {{-50, 0}, {100, 200}, {300, 400}, {500, 600}, {700, kOpen}};
  return builder;
}

TEST(WindowTest, OfARecordingInWindowsOneFromTheMiddle) {
  RankBuilder builder = FourParts();
  GpuOps& ops = builder.ops();
  const Window all{{0, 700}, false};
  EXPECT_EQ(ReportedPart(ops, all).time, (Interval{400, 500}));
  EXPECT_TRUE(ReportedPart(ops, all).restricted);
  ops.planned_gaps[2].start = 350;
  EXPECT_EQ(ReportedPart(ops, all).time, (Interval{400, 500})) << "not the longest";
  EXPECT_EQ(ReportedPart(ops, {{0, 280}, false}).time, (Interval{200, 280}));
  EXPECT_EQ(ReportedPart(ops, {{420, 480}, false}).time, (Interval{420, 480}));
  ops.planned_gaps.clear();
  EXPECT_EQ(ReportedPart(ops, all).time, all.time);
  EXPECT_FALSE(ReportedPart(ops, all).restricted);
}

TEST(WindowTest, PartsWithFewOperationsGiveWay) {
  RankBuilder builder = FourParts();
  builder.ops().planned_gaps = {{10, 200}, {220, 400}, {420, 600}};
  EXPECT_EQ(ReportedPart(builder.ops(), {{0, 700}, false}).time, (Interval{600, 700}));
}

TEST(WindowTest, PartsWithoutLaunchesGiveWay) {
  RankBuilder builder = FourParts();
  GpuOps& ops = builder.ops();
  std::fill(ops.launch.begin() + 10, ops.launch.end(), kNone);
  EXPECT_EQ(ReportedPart(ops, {{0, 700}, false}).time, (Interval{0, 100}));
  std::fill(ops.launch.begin(), ops.launch.end(), kNone);
  EXPECT_EQ(ReportedPart(ops, {{0, 700}, false}).time, (Interval{400, 500})) << "none has any";
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
