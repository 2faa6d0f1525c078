// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/waterfall.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace traceinject {
namespace {

Device Gpu(const char* name = "NVIDIA H200") {
  Device device;
  device.name = name;
  return device;
}

ComputeKindTime& Of(ComputeTime& time, ComputeKind kind) {
  return time.kinds[static_cast<std::size_t>(kind)];
}

// A step of 1,000: 100 idle, 50 communication, 850 computing.
StepSplit Split(const ComputeTime& compute, TimeNs idle = 100, TimeNs communication = 50) {
  StepSplit split;
  split.partition.idle_ns = idle;
  split.partition.exposed_communication_ns = communication;
  split.partition.compute_ns = compute.total_ns();
  split.partition.wall_ns = idle + communication + compute.total_ns();
  return split;
}

ComputeTime OneProduct(TimeNs took, double peak, double reached, double memory = 0) {
  ComputeTime time;
  Of(time, ComputeKind::kProduct) = {took, {{"a product", 1, took, peak, reached, memory}}};
  return time;
}

TimeNs NsOf(const Waterfall& waterfall, WaterfallPart part) {
  TimeNs ns = 0;
  for (const WaterfallBar& bar : waterfall.bars) {
    if (bar.part == part) ns += bar.ns;
  }
  return ns;
}

std::int32_t TenthsOf(const Waterfall& waterfall) {
  std::int32_t tenths = 0;
  for (const WaterfallBar& bar : waterfall.bars) tenths += bar.tenths;
  return tenths;
}

TEST(WaterfallTest, AProductLosesToTheClockThenTheCeilingThenItself) {
  const ComputeTime compute = OneProduct(850, 400, 500);
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, 1.1);
  ASSERT_EQ(found.reason, "");
  EXPECT_EQ(found.wall_ns, 1000);
  EXPECT_EQ(NsOf(found, WaterfallPart::kClock), 77) << "of 850 at 1 / 1.1 of the clock";
  EXPECT_EQ(NsOf(found, WaterfallPart::kIdle), 100);
  EXPECT_EQ(NsOf(found, WaterfallPart::kExposedCommunication), 50);
  EXPECT_EQ(NsOf(found, WaterfallPart::kCeiling), 100) << "up to 500 the best ones take as well";
  EXPECT_EQ(NsOf(found, WaterfallPart::kProducts), 273);
  EXPECT_EQ(NsOf(found, WaterfallPart::kAchieved), 400);
  EXPECT_EQ(TenthsOf(found), 1000);
  EXPECT_EQ(found.bars.back().part, WaterfallPart::kAchieved);
  EXPECT_EQ(found.bars.back().tenths, 400);
  ASSERT_NE(found.largest_loss_of_computing(), nullptr);
  EXPECT_EQ(found.largest_loss_of_computing()->part, WaterfallPart::kProducts);
  ASSERT_EQ(found.largest_loss_of_computing()->items.size(), 1U);
  EXPECT_EQ(found.largest_loss_of_computing()->items[0].name, "a product");
  EXPECT_EQ(found.largest_loss_of_computing()->items[0].ns, 273);
}

TEST(WaterfallTest, MemoryDoesNotFollowTheClock) {
  const ComputeTime compute = OneProduct(850, 10, 12, 700);
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, 1.5);
  EXPECT_EQ(NsOf(found, WaterfallPart::kClock), 150) << "down to the 700 that its matrices take";
  EXPECT_EQ(NsOf(found, WaterfallPart::kMemoryBound), 688);
  EXPECT_EQ(NsOf(found, WaterfallPart::kProducts), 0);
}

TEST(WaterfallTest, OfUnknownWorkOnlyMatrixKernelsFollowTheClock) {
  ComputeTime compute = OneProduct(100, 50, 60);
  Of(compute, ComputeKind::kUnknownWork) = {500, {{"triton_mm", 1, 500}}};
  Of(compute, ComputeKind::kOther) = {250, {{"norm", 1, 250}}};
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, 1.25);
  EXPECT_EQ(NsOf(found, WaterfallPart::kClock), 20 + 100);
  EXPECT_EQ(NsOf(found, WaterfallPart::kUnknownWork), 400);
  EXPECT_EQ(NsOf(found, WaterfallPart::kMemoryBound), 250);
}

TEST(WaterfallTest, AThinProductIsBoundByMemory) {
  const ComputeTime compute = OneProduct(850, 10, 12, 700);
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_EQ(NsOf(found, WaterfallPart::kMemoryBound), 688);
  EXPECT_EQ(NsOf(found, WaterfallPart::kProducts), 150);
  EXPECT_EQ(found.largest_loss_of_computing()->part, WaterfallPart::kMemoryBound);
}

TEST(WaterfallTest, AClockAboveTheHighestOneIsNoLoss) {
  const ComputeTime compute = OneProduct(850, 400, 500);
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, 0.9);
  EXPECT_EQ(NsOf(found, WaterfallPart::kClock), 0);
  EXPECT_EQ(NsOf(found, WaterfallPart::kCeiling), 100);
}

TEST(WaterfallTest, IdleByCauseWhereItIsKnown) {
  const ComputeTime compute = OneProduct(850, 400, 500);
  StepSplit split = Split(compute);
  split.idle_ns[static_cast<std::size_t>(IdleCause::kSync)] = 70;
  split.idle_ns[static_cast<std::size_t>(IdleCause::kLaunch)] = 30;
  const Waterfall found = WaterfallOf(Gpu(), split, compute, std::nullopt);
  std::size_t causes = 0;
  for (const WaterfallBar& bar : found.bars) {
    if (bar.part != WaterfallPart::kIdle) continue;
    ++causes;
    ASSERT_TRUE(bar.cause);
    EXPECT_EQ(bar.ns, *bar.cause == IdleCause::kSync ? 70 : 30);
  }
  EXPECT_EQ(causes, 2U);
}

TEST(WaterfallTest, GroupsShareTheTimeOfTheirKind) {
  ComputeTime compute;
  // Two in parallel: 1,000 of kernels in 500.
  Of(compute, ComputeKind::kProduct) = {500,
                                        {{"a", 1, 600, 100, 120, 0}, {"b", 1, 400, 200, 240, 0}}};
  Of(compute, ComputeKind::kOther) = {350, {{"norm", 3, 300}, {"elementwise", 1, 50}}};
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_EQ(NsOf(found, WaterfallPart::kAchieved), 300);
  EXPECT_EQ(NsOf(found, WaterfallPart::kMemoryBound), 350);
  // a: 300 of 100 and 20; b: 200 of 200, so that nothing is left for its ceiling.
  EXPECT_EQ(NsOf(found, WaterfallPart::kCeiling), 20);
  EXPECT_EQ(NsOf(found, WaterfallPart::kProducts), 180);
}

TEST(WaterfallTest, MoreThanThePeakIsRefused) {
  const ComputeTime compute = OneProduct(850, 900, 1000);
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_TRUE(found.bars.empty());
  EXPECT_EQ(found.reason,
            "the known FLOPs would take longer at the published peak than their kernels");
}

// A transformed convolution does less than is counted.
TEST(WaterfallTest, WhatOneKindGainsIsNotTakenFromKernelsOfAnother) {
  ComputeTime compute;
  Of(compute, ComputeKind::kProduct) = {500, {{"a convolution", 1, 500, 600, 700, 0}}};
  Of(compute, ComputeKind::kOther) = {350, {{"norm", 1, 350}}};
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_TRUE(found.bars.empty()) << "350 of other kernels do not explain it";
}

TEST(WaterfallTest, OneGroupMayGainWhatAnotherOfItsKindLacks) {
  ComputeTime compute;
  Of(compute, ComputeKind::kProduct) = {850,
                                        {{"a", 1, 450, 460, 500, 0}, {"b", 1, 400, 200, 250, 0}}};
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_EQ(NsOf(found, WaterfallPart::kAchieved), 660);
  EXPECT_EQ(NsOf(found, WaterfallPart::kCeiling), 50);
  EXPECT_EQ(NsOf(found, WaterfallPart::kProducts), 140);
}

TEST(WaterfallTest, KernelsThatBeganBeforeAchieveNothing) {
  ComputeTime compute = OneProduct(400, 300, 350);
  Of(compute, ComputeKind::kAttention) = {450, {{"began before", 0, 0}}};
  const Waterfall found = WaterfallOf(Gpu(), Split(compute), compute, std::nullopt);
  EXPECT_EQ(NsOf(found, WaterfallPart::kAchieved), 300);
  EXPECT_EQ(NsOf(found, WaterfallPart::kAttention), 450);
}

TEST(WaterfallTest, WithoutAPeakOrWorkThereIsNone) {
  const ComputeTime compute = OneProduct(850, 400, 500);
  EXPECT_EQ(WaterfallOf(Gpu("A card"), Split(compute), compute, std::nullopt).reason,
            "the peak rate of 'A card' is not known");
  ComputeTime unknown;
  Of(unknown, ComputeKind::kUnknownWork) = {850, {{"triton_mm", 1, 850}}};
  EXPECT_EQ(WaterfallOf(Gpu(), Split(unknown), unknown, std::nullopt).reason,
            "the FLOPs of no kernel in this time are known");
}

TEST(WaterfallTest, AnyTimesAddUp) {
  std::mt19937 random(3);
  const auto pick = [&](int below) { return static_cast<TimeNs>(random() % below); };
  const auto share = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  for (int round = 0; round < 300; ++round) {
    ComputeTime compute;
    for (const ComputeKind kind : {ComputeKind::kProduct, ComputeKind::kAttention,
                                   ComputeKind::kUnknownWork, ComputeKind::kOther}) {
      ComputeKindTime& of = Of(compute, kind);
      for (TimeNs i = 0; i < 1 + pick(4); ++i) {
        const TimeNs took = 1 + pick(100'000);
        const double peak =
            kind <= ComputeKind::kAttention ? 0.6 * static_cast<double>(took) * share() : 0;
        of.groups.push_back({std::to_string(i), 1, took, peak, peak / 0.8, 900 * share()});
        of.ns += took;
      }
    }
    const StepSplit split = Split(compute, pick(50'000), pick(50'000));
    const Waterfall found =
        WaterfallOf(Gpu(), split, compute, pick(2) == 0 ? std::nullopt : std::optional(1.05));
    if (!found.reason.empty()) continue;  // none of the work took any
    TimeNs sum = 0;
    for (const WaterfallBar& bar : found.bars) {
      EXPECT_GT(bar.ns, 0);
      sum += bar.ns;
    }
    EXPECT_EQ(sum, split.partition.wall_ns);
    EXPECT_EQ(TenthsOf(found), 1000);
  }
}

}  // namespace
}  // namespace traceinject
