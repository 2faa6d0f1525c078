// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/data_parallel.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// StepsOn of one process on `gpus` GPUs: on each a collective before the computation and one after
// it.
Rank StepsOn(int gpus, const std::string& before, const std::string& after, int steps = 5) {
  RankBuilder builder;
  for (int gpu = 1; gpu < gpus; ++gpu) builder.AddDevice("NVIDIA H200");
  const std::string arguments = "(ncclDevKernelArgsStorage<4096ul>)";
  for (int step = 0; step < steps; ++step) {
    const TimeNs start = step * 1000;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const auto device = static_cast<std::size_t>(gpu);
      builder.AddKernel(start, start + 100, before + arguments, kNone, device);
      builder.AddKernel(start + 100, start + 800, "ampere_sgemm_128x64_nn", kNone, device);
      builder.AddKernel(start + 800, start + 900, after + arguments, kNone, device);
    }
  }
  return builder.rank();
}

constexpr const char* kBroadcast = "ncclDevKernel_Broadcast_RING_LL";
constexpr const char* kReduce = "ncclDevKernel_Reduce_Sum_f32_RING_LL";

TEST(DataParallelTest, BroadcastAndReduceOnAllGpusOfAProcess) {
  const auto found = FindDataParallel(StepsOn(3, kBroadcast, kReduce));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->gpus, 3);
  EXPECT_EQ(found->broadcasts, 5);
  EXPECT_EQ(found->reductions, 5);
}

TEST(DataParallelTest, NamesOfOlderVersionsOfNccl) {
  EXPECT_TRUE(FindDataParallel(StepsOn(2, "ncclKernel_Broadcast_RING_LL_Sum_int8_t",
                                       "ncclKernel_Reduce_RING_LL_Sum_float"))
                  .has_value());
}

TEST(DataParallelTest, OtherProgramsAreNot) {
  EXPECT_FALSE(FindDataParallel(StepsOn(1, kBroadcast, kReduce))) << "a process for each GPU";
  EXPECT_FALSE(FindDataParallel(StepsOn(2, kBroadcast, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")));
  EXPECT_FALSE(FindDataParallel(StepsOn(2, kBroadcast, kReduce, 2))) << "only at the beginning";
  EXPECT_FALSE(FindDataParallel(StepsOn(2, "elementwise_kernel", "elementwise_kernel")));
}

}  // namespace
}  // namespace traceinject
