// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/small_kernels.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Intervals::value_type kAll{0, 1'000'000'000};

// So many kernels of each length, each launched so long before it starts.
SmallKernels Count(int small, TimeNs small_ns, int large, TimeNs slack_ns) {
  RankBuilder builder;
  TimeNs now = 1'000'000;
  const auto add = [&](const char* name, TimeNs length) {
    builder.AddKernel(now, now + length, name,
                      builder.AddApi(now - slack_ns, now - slack_ns + 10, "cudaLaunchKernel"));
    now += length;
  };
  for (int i = 0; i < small; ++i) add(i % 3 == 0 ? "copy" : "add", small_ns);
  for (int i = 0; i < large; ++i) add("gemm", 100'000);
  builder.AddKernel(now, now + 5'000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  return CountSmallKernels(builder.rank(), builder.rank().devices[0], {kAll}, 2);
}

TEST(SmallKernelsTest, CountsThoseShorterThanALaunch) {
  const SmallKernels found = Count(60, 2'000, 4, 500'000);
  EXPECT_EQ(found.small.kernels, 60);
  EXPECT_EQ(found.small.total_ns, 120'000);
  EXPECT_EQ(found.all.kernels, 64);
  EXPECT_EQ(found.all.total_ns, 520'000);
  EXPECT_DOUBLE_EQ(found.share(), 120.0 / 520);
  EXPECT_EQ(found.steps, 2);
  EXPECT_EQ(found.LeadingNames(5), (std::vector<std::string>{"add", "copy"}));
  EXPECT_EQ(found.LeadingNames(1), std::vector<std::string>{"add"});
  EXPECT_EQ(Count(60, kSmallKernelNs, 4, 0).small.kernels, 0);
}

TEST(SmallKernelsTest, MatterByTheirShareOrWhereTheGpuWaitsForLaunches) {
  EXPECT_TRUE(Count(60, 2'000, 4, 500'000).matter()) << "23 % of the time";
  EXPECT_FALSE(Count(60, 2'000, 8, 500'000).matter()) << "13 %, and the host is ahead";
  EXPECT_TRUE(Count(60, 2'000, 8, 5'000).matter()) << "13 %, and it is not";
  EXPECT_FALSE(Count(20, 2'000, 8, 5'000).matter()) << "4.8 %";
  EXPECT_FALSE(Count(0, 2'000, 0, 0).matter());
}

TEST(SmallKernelsTest, OfSeveralDevicesAddUp) {
  SmallKernels sum = Count(60, 2'000, 4, 500'000);
  sum += Count(30, 2'000, 4, 5'000);
  EXPECT_EQ(sum.small.kernels, 90);
  EXPECT_EQ(sum.all.total_ns, 980'000);
  EXPECT_EQ(sum.launched, 98);
  EXPECT_EQ(sum.at_once, 34);
  EXPECT_EQ(sum.by_name.at("add").kernels, 60);
  EXPECT_EQ(sum.steps, 4);
}

}  // namespace
}  // namespace traceinject
