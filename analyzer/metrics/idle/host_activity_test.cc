// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/host_activity.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

using Kind = HostActivity::Kind;

// GPU idle [100, 1000); the launch that ends it begins at 900.
RankBuilder Gap900() {
  RankBuilder builder;
  const std::uint32_t first = builder.AddApi(-10, -5, "cudaLaunchKernel");
  builder.AddApi(50, 300, "cudaStreamSynchronize");
  builder.AddApi(300, 320, "cudaMemcpyAsync");
  builder.AddApi(400, 450, "cudaMemcpyAsync");
  const std::uint32_t launch = builder.AddApi(900, 950, "cudaLaunchKernel");
  builder.AddKernel(0, 100, "a", first);
  builder.AddKernel(1000, 1100, "b", launch);
  builder.AddRange({-100, 5000, "epoch"});
  builder.AddRange({0, 2000, "train_step 4"});
  builder.AddRange({60, 3000, "in NCCL itself", "NCCL"});
  builder.AddRange({500, 800, "DataLoader"});
  builder.AddCall({820, 850, "AllReduce", 4096});
  return builder;
}

TEST(HostActivityTest, TellsWhatTheLaunchingThreadDid) {
  RankBuilder builder = Gap900();
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 1100}}, 1);
  ASSERT_EQ(gaps.longest.size(), 1u);
  const std::vector<HostActivity> found =
      HostActivities(builder.rank(), {gaps.longest[0].time}).During(gaps.longest[0]);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].name, "cudaStreamSynchronize");
  EXPECT_EQ(found[0].overlap_ns, 200);
  EXPECT_EQ(found[1].name, "cudaMemcpyAsync");
  EXPECT_EQ(found[1].overlap_ns, 70);
  EXPECT_EQ(found[1].count, 2);
  EXPECT_EQ(found[2].kind, Kind::kRange);
  EXPECT_EQ(found[2].name, "train_step 4");
  EXPECT_EQ(found[2].overlap_ns, 800);
  EXPECT_EQ(found[3].name, "DataLoader");
  EXPECT_EQ(found[3].overlap_ns, 300);
  EXPECT_EQ(found[4].kind, Kind::kCollective);
  EXPECT_EQ(found[4].name, "AllReduce");

  const std::string text = DescribeGap(builder.rank(), gaps.longest[0], found);
  EXPECT_EQ(text,
            "host late: cudaLaunchKernel on thread 100 (python) began 800 ns into the gap; before "
            "that: 200 ns in "
            "cudaStreamSynchronize, 70 ns in cudaMemcpyAsync x2, 800 ns in range 'train_step 4', "
            "300 ns in range "
            "'DataLoader', 30 ns in NCCL call AllReduce");
}

TEST(HostActivityTest, OtherThreadsAreAskedWhenTheLaunchingOneWasSilent) {
  RankBuilder builder;
  builder.AddApi(10, 480, "cudaEventSynchronize", 0);
  const std::uint32_t launch = builder.AddApi(500, 510, "cudaLaunchKernel", 1);
  builder.AddKernel(0, 20, "a");
  builder.AddKernel(600, 700, "b", launch);
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 700}}, 1);
  const std::vector<HostActivity> found =
      HostActivities(builder.rank(), {gaps.longest[0].time}).During(gaps.longest[0]);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "cudaEventSynchronize");
  EXPECT_EQ(found[0].overlap_ns, 460);
  EXPECT_EQ(found[0].thread, 0u);
  EXPECT_NE(DescribeGap(builder.rank(), gaps.longest[0], found)
                .find("thread 100 (python) 460 ns in cudaEventSynchronize"),
            std::string::npos);
}

TEST(HostActivityTest, UnknownLaunchesAreSaidToBeUnknown) {
  RankBuilder builder;
  builder.AddKernel(0, 20, "a");
  builder.AddKernel(600, 700, "b");
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 800}}, 2);
  const HostActivities activities(builder.rank(), {gaps.longest[0].time});
  EXPECT_TRUE(activities.During(gaps.longest[0]).empty());
  EXPECT_EQ(DescribeGap(builder.rank(), gaps.longest[0], {}),
            "cause unknown: the launch call of the next operation was not recorded");
  EXPECT_EQ(DescribeGap(builder.rank(), gaps.longest[1], {}),
            "no later operation in the recording");
}

TEST(HostActivityTest, SilenceIsSaidToBeSilence) {
  RankBuilder builder;
  builder.AddKernel(0, 20, "a");
  builder.AddKernel(600, 700, "b", builder.AddApi(500, 510, "cudaLaunchKernel"));
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 700}}, 1);
  EXPECT_NE(
      DescribeGap(builder.rank(), gaps.longest[0],
                  HostActivities(builder.rank(), {gaps.longest[0].time}).During(gaps.longest[0]))
          .find("no CUDA call, NVTX range or NCCL call recorded in it"),
      std::string::npos);
}

TEST(HostActivityTest, AnOperationOnItsWayIsSaidToBe) {
  RankBuilder builder;
  builder.AddKernel(0, 2'000, "a");
  builder.AddKernel(6'000, 7'000, "b", builder.AddApi(1'000, 3'000, "cudaLaunchKernel"));
  const Gaps gaps = FindGaps(builder.ops(), builder.rank().api, {{0, 7'000}}, 1);
  EXPECT_EQ(DescribeGap(builder.rank(), gaps.longest[0], {}),
            "launch latency: cudaLaunchKernel on thread 100 (python) began 1.000 us before the "
            "gap, and the operation had not started yet; host: no CUDA call, NVTX range or NCCL "
            "call recorded in it");
}

}  // namespace
}  // namespace traceinject
