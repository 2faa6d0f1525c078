// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/launch_latency.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Kernels of 10 us that find an idle device after 100 us each, the latencies 5, 6, 7 us and so on.
void LaunchIdle(RankBuilder& builder, int count) {
  for (int i = 0; i < count; ++i) {
    const TimeNs at = i * 100 * kUs;
    const std::uint32_t call = builder.AddApi(at, at + 2 * kUs, "cudaLaunchKernel");
    const TimeNs start = at + (5 + i) * kUs;
    builder.AddKernel(start, start + 10 * kUs, kGemm, call);
  }
}

TEST(LaunchLatencyTest, UsualIsLowAmongThoseThatFoundAnIdleDevice) {
  RankBuilder builder;
  LaunchIdle(builder, 40);
  EXPECT_EQ(UsualLatency(builder.rank().api, builder.ops()), 7 * kUs);
  // Queued far ahead.
  for (int i = 0; i < 400; ++i) {
    const TimeNs start = (10'000 + i * 11) * kUs;
    const TimeNs launched = i == 0 ? start - 100 * kUs : (9'900 + i) * kUs;
    builder.AddKernel(start, start + 10 * kUs, kGemm,
                      builder.AddApi(launched, launched + 500, "cudaLaunchKernel"));
  }
  EXPECT_EQ(UsualLatency(builder.rank().api, builder.ops()), 7 * kUs);
}

TEST(LaunchLatencyTest, CopiesAreNoKernels) {
  RankBuilder builder;
  LaunchIdle(builder, 40);
  for (int i = 0; i < 400; ++i) {
    const TimeNs at = (10'000 + i * 100) * kUs;
    const std::uint32_t call = builder.AddApi(at, at + 2 * kUs, "cudaMemcpyAsync");
    builder.AddCopy(at + 4 * kUs, at + 6 * kUs, {.bytes = 4096}, call);
  }
  EXPECT_EQ(UsualLatency(builder.rank().api, builder.ops()), 7 * kUs);
}

TEST(LaunchLatencyTest, FewSayNothing) {
  RankBuilder builder;
  LaunchIdle(builder, 19);
  EXPECT_EQ(UsualLatency(builder.rank().api, builder.ops()), 8 * kUs);
}

TEST(LaunchLatencyTest, OnItsWayAreLateKernels) {
  RankBuilder builder;
  const std::uint32_t call = builder.AddApi(0, 2 * kUs, "cudaLaunchKernel");
  builder.AddKernel(0, kUs, kGemm, call);
  builder.AddKernel(2 * kUs, 3 * kUs, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", call);
  builder.AddCopy(4 * kUs, 5 * kUs, {.bytes = 4, .kind = 8, .src_kind = 3, .dst_kind = 3}, call);
  const GpuOps& ops = builder.ops();
  EXPECT_TRUE(WasOnItsWay(ops, 0, 3 * kUs, 6 * kUs, 6 * kUs));
  EXPECT_TRUE(WasOnItsWay(ops, 0, 3 * kUs, 9 * kUs, 6 * kUs));
  EXPECT_FALSE(WasOnItsWay(ops, 0, 3 * kUs, 10 * kUs, 6 * kUs)) << "launched long before";
  EXPECT_FALSE(WasOnItsWay(ops, 0, 2 * kUs, 6 * kUs, 6 * kUs)) << "a pause of the device";
  EXPECT_FALSE(WasOnItsWay(ops, 1, 3 * kUs, 6 * kUs, 6 * kUs)) << "communication";
  EXPECT_FALSE(WasOnItsWay(ops, 2, 3 * kUs, 6 * kUs, 6 * kUs)) << "a copy";
}

}  // namespace
}  // namespace traceinject
