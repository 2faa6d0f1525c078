// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/launch_fit.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Device Gpu(int cc_major, int cc_minor, int sm_count) {
  Device device;
  device.cc_major = cc_major;
  device.cc_minor = cc_minor;
  device.sm_count = sm_count;
  return device;
}

KernelShape LaunchOf(std::int32_t blocks, std::int32_t threads, std::int32_t registers,
                     std::int64_t shared_bytes = 0) {
  KernelShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  shape.registers = registers;
  shape.dynamic_shared_bytes = shared_bytes;
  return shape;
}

const Device kH200 = Gpu(9, 0, 132);

// As cudaOccupancyMaxActiveBlocksPerMultiprocessor answers, worked out by hand.
TEST(LaunchFit, AProductWithMostOfTheSharedMemoryRunsAlone) {
  const auto fit = FitLaunch(LaunchOf(132, 384, 168, 221420), kH200);
  ASSERT_TRUE(fit);
  // 168 x 32 = 5376 registers a warp, 16384 / 5376 = 3 warps a quarter: 12 warps, one block.
  EXPECT_EQ(fit->blocks_per_sm, 1);
  EXPECT_EQ(fit->limited_by, "registers");
  EXPECT_DOUBLE_EQ(fit->occupancy, 384.0 / 2048);
  EXPECT_DOUBLE_EQ(*fit->waves, 1);
  EXPECT_DOUBLE_EQ(*fit->tail_loss, 0);
}

TEST(LaunchFit, EachLimitCanBeTheFirst) {
  EXPECT_EQ(FitLaunch(LaunchOf(1, 1024, 32), kH200)->blocks_per_sm, 2);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 1024, 32), kH200)->limited_by, "threads");
  EXPECT_DOUBLE_EQ(FitLaunch(LaunchOf(1, 1024, 32), kH200)->occupancy, 1);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 32, 32), kH200)->blocks_per_sm, 32);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 32, 32), kH200)->limited_by, "blocks");
  EXPECT_DOUBLE_EQ(FitLaunch(LaunchOf(1, 32, 32), kH200)->occupancy, 0.5);
  // 60 registers: 2048 a warp with the rounding, 8 warps a quarter, 32 of 512 / 32 = 16: two
  // blocks.
  EXPECT_EQ(FitLaunch(LaunchOf(320, 512, 60), kH200)->blocks_per_sm, 2);
  EXPECT_EQ(FitLaunch(LaunchOf(320, 512, 60), kH200)->limited_by, "registers");
  // 100 KiB of shared memory and the reserved one: two fit into 228 KiB.
  EXPECT_EQ(FitLaunch(LaunchOf(1, 128, 32, 100 * 1024), kH200)->blocks_per_sm, 2);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 128, 32, 100 * 1024), kH200)->limited_by, "shared memory");
  EXPECT_EQ(FitLaunch(LaunchOf(1, 128, 32, 113 * 1024), kH200)->blocks_per_sm, 2);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 128, 32, 113 * 1024 + 1), kH200)->blocks_per_sm, 1);
}

TEST(LaunchFit, ALastWaveThatIsNotFullCostsTime) {
  // 16 blocks of 128 threads on each of 132: 2112 at a time.
  const auto fit = FitLaunch(LaunchOf(2112 + 1056, 128, 32), kH200);
  EXPECT_DOUBLE_EQ(*fit->waves, 1.5);
  EXPECT_DOUBLE_EQ(*fit->tail_loss, 0.25);
  EXPECT_DOUBLE_EQ(*FitLaunch(LaunchOf(66, 1024, 32, 200 * 1024), kH200)->tail_loss, 0.5);
}

TEST(LaunchFit, LimitsDifferByComputeCapability) {
  EXPECT_EQ(FitLaunch(LaunchOf(1, 32, 16), Gpu(8, 6, 84))->blocks_per_sm, 16);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 32, 16), Gpu(8, 9, 142))->blocks_per_sm, 24);
  EXPECT_EQ(FitLaunch(LaunchOf(1, 1024, 32), Gpu(8, 6, 84))->blocks_per_sm, 1);
  // Nothing is reserved before 8.0.
  EXPECT_EQ(FitLaunch(LaunchOf(1, 128, 32, 48 * 1024), Gpu(7, 0, 80))->blocks_per_sm, 2);
}

TEST(LaunchFit, WhatIsNotKnownIsAbsent) {
  EXPECT_FALSE(FitLaunch(LaunchOf(1, 128, 32), Device{}));
  EXPECT_FALSE(FitLaunch(LaunchOf(1, 128, 32), Gpu(3, 5, 15)));
  EXPECT_FALSE(FitLaunch(LaunchOf(1, 128, 32, 300 * 1024), kH200)) << "more than there is";
  EXPECT_FALSE(FitLaunch(LaunchOf(0, 128, 32), kH200));
  KernelShape huge = LaunchOf(2'147'483'647, 128, 32);
  huge.grid[1] = huge.grid[2] = 2'147'483'647;
  EXPECT_FALSE(FitLaunch(huge, kH200));
  Device no_count = kH200;
  no_count.sm_count.reset();
  const auto fit = FitLaunch(LaunchOf(1, 128, 32), no_count);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->waves);
}

}  // namespace
}  // namespace traceinject
