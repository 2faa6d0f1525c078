// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/collectives.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* kSendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

TEST(CollectivesTest, KernelIsLinkedToTheCallAroundItsLaunch) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(4, 0, 0);
  builder.AddCall({100, 200, "AllReduce", 1'000'000, communicator});
  builder.AddCall({300, 400, "AllGather", 1'000, communicator});
  const std::uint32_t first = builder.AddApi(150, 160, "cudaLaunchKernelExC");
  const std::uint32_t second = builder.AddApi(350, 360, "cudaLaunchKernelExC");
  builder.AddKernel(500, 600, kAllReduce, first);
  builder.AddKernel(700, 750, "ncclDevKernel_AllGather_RING_LL", second);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 2u);
  EXPECT_EQ(links.launches[0].function, "AllReduce");
  EXPECT_EQ(links.launches[0].bytes, 1'000'000);
  EXPECT_EQ(links.launches[0].communicator_size, 4);
  EXPECT_EQ(links.launches[0].kernel_ns, 100);
  EXPECT_EQ(links.launches[0].calls, 1);
  EXPECT_EQ(links.launches[1].bytes, 4'000);  // per rank x ranks
}

// A process that drives several devices has a communicator of the same hash on each.
TEST(CollectivesTest, CommunicatorIsTheOneOnTheDeviceOfTheKernel) {
  RankBuilder builder;
  builder.AddCommunicator(2, 0, 0);
  const std::uint32_t last = builder.AddCommunicator(2, 1, 1);
  builder.AddCall({100, 200, "AllReduce", 1'000, last});
  builder.AddKernel(500, 600, kAllReduce, builder.AddApi(150, 160, "cudaLaunchKernelExC"));
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].calls, 1);
  EXPECT_EQ(links.launches[0].communicator, 0u);
  EXPECT_EQ(links.launches[0].bytes, 1'000);
}

TEST(CollectivesTest, CallsOfAnotherThreadDoNotCount) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AllReduce", 1'000, kNone, 1});
  const std::uint32_t launch = builder.AddApi(150, 160, "cudaLaunchKernelExC", 0);
  builder.AddKernel(500, 600, kAllReduce, launch);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].calls, 0);
  EXPECT_FALSE(links.launches[0].bytes);
  EXPECT_EQ(links.launches[0].function, "AllReduce");  // from the name of the kernel
}

// Copies on the class of communication: NCCL made them (MarkNcclCopies).
TEST(CollectivesTest, CopiesOfTheCopyEnginesAreLinkedToTheirCall) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AllGather", 1'000, builder.AddCommunicator(4, 0, 0)});
  const std::uint32_t launch = builder.AddApi(150, 160, "cudaMemcpyAsync");
  builder.AddCopy(300, 400, Transfer{}, launch);
  builder.AddCopy(350, 450, Transfer{}, launch);
  builder.AddCopy(500, 600, Transfer{});  // the program's own
  Rank rank = builder.rank();
  GpuOps& ops = rank.devices[0].ops;
  ops.kernel_class[0] = ops.kernel_class[1] = KernelClass::kComm;
  const NcclLinks links = LinkNccl(rank, rank.devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].function, "AllGather");
  EXPECT_EQ(links.launches[0].bytes, 4'000);
  EXPECT_EQ(links.launches[0].algorithm, "copy engine");
  EXPECT_EQ(links.launches[0].kernels, 0);
  EXPECT_EQ(links.launches[0].copies, 2);
  EXPECT_EQ(links.launches[0].kernel_ns, 150);
  EXPECT_TRUE(links.linked_rows.empty());  // kernels only
}

// Two grouped calls, a nested group, one kernel in the outermost ncclGroupEnd.
RankBuilder Grouped(const std::string& first, const std::string& second, const char* kernel) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, 1, 0);
  builder.AddRange({0, 5, "ncclGroupStart", "NCCL"});
  builder.AddRange({10, 12, "ncclGroupStart", "NCCL"});
  builder.AddCall({20, 30, first, 600, communicator});
  builder.AddCall({40, 50, second, 400, communicator});
  builder.AddRange({60, 70, "ncclGroupEnd", "NCCL"});
  builder.AddRange({80, 200, "ncclGroupEnd", "NCCL"});
  builder.AddKernel(300, 400, kernel, builder.AddApi(100, 110, "cudaLaunchKernelExC"));
  return builder;
}

TEST(CollectivesTest, GroupedCallsAddUp) {
  RankBuilder builder = Grouped("AllReduce", "AllReduce", kAllReduce);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].function, "AllReduce");
  EXPECT_EQ(links.launches[0].calls, 2);
  EXPECT_EQ(links.launches[0].bytes, 1000);
  EXPECT_EQ(links.launches[0].kernel_ns, 100);
}

// NCCL itself tells which kernel of the group did what.
TEST(CollectivesTest, KernelsOfAGroupAreToldApartByTheirPlans) {
  RankBuilder builder = Grouped("AllReduce", "AllGather", kAllReduce);
  const std::uint32_t second = builder.AddApi(120, 130, "cudaLaunchKernelExC");
  builder.AddKernel(500, 550, "ncclDevKernel_AllGather_RING_LL", second);
  builder.AddPlan(0, 0, "TREE", "LL");
  builder.AddPlan(1, second);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 2u);
  EXPECT_EQ(links.launches[0].function, "AllReduce");
  EXPECT_EQ(links.launches[0].bytes, 600);
  EXPECT_EQ(links.launches[0].algorithm, "TREE");
  EXPECT_EQ(links.launches[0].protocol, "LL");
  EXPECT_EQ(links.launches[1].function, "AllGather");
  EXPECT_EQ(links.launches[1].bytes, 800);
  EXPECT_EQ(links.launches[1].algorithm, "RING");
  EXPECT_EQ(links.launches[1].channels, 24);
  EXPECT_EQ(links.linked_rows.size(), 2u);
}

TEST(CollectivesTest, OperationsFusedInOneKernelAddUpByTheirPlans) {
  RankBuilder builder = Grouped("AllReduce", "AllReduce", kAllReduce);
  builder.AddPlan(0, 0, "RING", "SIMPLE");
  builder.AddPlan(1, 0, "TREE", "SIMPLE");
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].calls, 2);
  EXPECT_EQ(links.launches[0].bytes, 1000);
  EXPECT_EQ(links.launches[0].algorithm, "RING+TREE");
  EXPECT_EQ(links.launches[0].protocol, "SIMPLE");
}

TEST(CollectivesTest, AnOperationOfSeveralKernelsIsOneLaunch) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AlltoAll", 1'000, builder.AddCommunicator(4, 0, 0)});
  for (const TimeNs time : {110, 130}) {
    const std::uint32_t launch = builder.AddApi(time, time + 5, "cudaLaunchKernelExC");
    builder.AddKernel(time + 300, time + 310, kSendRecv, launch);
    builder.AddPlan(0, launch, "", "");
  }
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].kernels, 2);
  EXPECT_EQ(links.launches[0].calls, 1);
  EXPECT_EQ(links.launches[0].bytes, 4'000);
  EXPECT_EQ(links.launches[0].algorithm, "");
}

// As the interface alone tells of an operation: at one moment, after the launch.
TEST(CollectivesTest, APlanLinksAKernelLaunchedOutsideOfItsCall) {
  RankBuilder builder;
  builder.AddCall({200, 200, "AllReduce", 1'000, builder.AddCommunicator(4, 0, 0)});
  const std::uint32_t launch = builder.AddApi(150, 160, "cudaLaunchKernelExC");
  builder.AddKernel(300, 400, kAllReduce, launch);
  builder.AddPlan(0, launch);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].calls, 1);
}

TEST(CollectivesTest, AGroupKeepsTheCallsThatHaveNoPlan) {
  RankBuilder builder = Grouped("AllReduce", "AllGather", kAllReduce);
  const std::uint32_t second = builder.AddApi(120, 130, "cudaLaunchKernelExC");
  builder.AddKernel(500, 550, "ncclDevKernel_AllGather_RING_LL", second);
  builder.AddPlan(1, second);  // that of the first was lost
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 2u);
  EXPECT_EQ(links.launches[0].function, "AllReduce");
  EXPECT_EQ(links.launches[0].calls, 1);
}

TEST(CollectivesTest, SendAndRecvOfOneGroupAreOneExchange) {
  RankBuilder builder = Grouped("Send", "Recv", kSendRecv);
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].function, "Send+Recv");
  EXPECT_EQ(links.launches[0].bytes, 600);
}

TEST(CollectivesTest, MixedGroupIsNamedSo) {
  RankBuilder builder = Grouped("Reduce", "AllReduce", kAllReduce);
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches[0].function,
            "AllReduce+Reduce");
}

TEST(CollectivesTest, OnlyTheOutermostGroupEndLaunches) {
  RankBuilder builder;
  builder.AddRange({0, 5, "ncclGroupStart", "NCCL"});
  builder.AddRange({10, 12, "ncclGroupStart", "NCCL"});
  builder.AddCall({20, 30, "AllReduce", 600});
  builder.AddRange({60, 70, "ncclGroupEnd", "NCCL"});
  builder.AddKernel(300, 400, kAllReduce, builder.AddApi(65, 66, "cudaLaunchKernelExC"));
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches[0].calls, 0);
}

TEST(CollectivesTest, RangesOfOtherDomainsAreNoGroups) {
  RankBuilder builder;
  builder.AddRange({0, 5, "ncclGroupStart", "mine"});
  builder.AddCall({20, 30, "AllReduce", 600});
  builder.AddRange({80, 200, "ncclGroupEnd", "mine"});
  builder.AddKernel(300, 400, kAllReduce, builder.AddApi(100, 110, "cudaLaunchKernelExC"));
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches[0].calls, 0);
}

TEST(CollectivesTest, GroupWhoseStartWasNotRecordedIsLeftOut) {
  RankBuilder builder;
  builder.AddRange({80, 200, "ncclGroupEnd", "NCCL"});
  builder.AddKernel(300, 400, kAllReduce, builder.AddApi(100, 110, "cudaLaunchKernelExC"));
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches[0].calls, 0);
}

TEST(CollectivesTest, SeveralKernelsOfOneGroupAreOneLaunch) {
  RankBuilder builder = Grouped("AllReduce", "AllReduce", kAllReduce);
  builder.AddKernel(350, 450, kAllReduce, builder.AddApi(120, 130, "cudaLaunchKernelExC"));
  builder.AddKernel(500, 510, kAllReduce, builder.AddApi(140, 150, "cudaLaunchKernelExC"));
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 1u);
  EXPECT_EQ(links.launches[0].kernels, 3);
  EXPECT_EQ(links.launches[0].kernel_ns, 160);  // [300, 450) and [500, 510)
}

TEST(CollectivesTest, ExposedIsWhatNoOtherKernelRunsBeside) {
  RankBuilder builder;
  builder.AddKernel(0, 130, "gemm");
  builder.AddKernel(100, 200, kAllReduce);
  builder.AddKernel(150, 160, kAllReduce);  // communication does not hide communication
  builder.AddKernel(190, 250, "gemm");
  const NcclLinks links = LinkNccl(builder.rank(), builder.rank().devices[0]);
  ASSERT_EQ(links.launches.size(), 2u);
  EXPECT_EQ(links.launches[0].kernel_ns, 100);
  EXPECT_EQ(links.launches[0].exposed_ns, 60);  // [130, 190)
  EXPECT_EQ(links.launches[1].exposed_ns, 10);
}

TEST(CollectivesTest, GroupOverTwoDevicesIsSplitByCommunicator) {
  RankBuilder builder;
  builder.AddDevice("NVIDIA H200");
  const std::uint32_t zero = builder.AddCommunicator(2, 0, 0),
                      one = builder.AddCommunicator(2, 1, 1);
  builder.AddRange({0, 5, "ncclGroupStart", "NCCL"});
  builder.AddCall({20, 30, "AllReduce", 600, zero});
  builder.AddCall({40, 50, "AllReduce", 700, one});
  builder.AddRange({80, 200, "ncclGroupEnd", "NCCL"});
  builder.AddKernel(300, 400, kAllReduce, builder.AddApi(100, 110, "cudaLaunchKernelExC"), 0);
  builder.AddKernel(310, 410, kAllReduce, builder.AddApi(120, 130, "cudaLaunchKernelExC"), 1);
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches[0].bytes, 600);
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[1]).launches[0].bytes, 700);
}

TEST(CollectivesTest, KernelsOfOtherLibrariesAreCountedApart) {
  RankBuilder builder;
  builder.AddKernel(0, 10, kAllReduce);
  builder.AddKernel(20, 30, "void multimem_all_reduce_kernel<float>(float*)");
  builder.AddKernel(40, 50, "gemm");
  const CommKernels count = CountCommKernels(builder.rank(), builder.ops(), {{0, 3}});
  EXPECT_EQ(count.nccl, 1);
  EXPECT_EQ(count.other, 1);
  EXPECT_EQ(LinkNccl(builder.rank(), builder.rank().devices[0]).launches.size(), 1u);
}

// Sizes and factors of nccl-tests, doc/PERFORMANCE.md, for n = 4.
TEST(CollectivesTest, SizesAndFactors) {
  EXPECT_EQ(MessageBytes("AllReduce", 100, std::nullopt), 100);
  EXPECT_EQ(MessageBytes("AllGather", 100, 4), 400);
  EXPECT_EQ(MessageBytes("ReduceScatter", 100, 4), 400);
  EXPECT_EQ(MessageBytes("AlltoAll", 100, 4), 400);
  EXPECT_EQ(MessageBytes("Broadcast", 100, 4), 100);
  EXPECT_FALSE(MessageBytes("AllGather", 100, std::nullopt));
  EXPECT_DOUBLE_EQ(*BusFactor("AllReduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(*BusFactor("AllGather", 4), 0.75);
  EXPECT_DOUBLE_EQ(*BusFactor("ReduceScatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(*BusFactor("AlltoAll", 4), 0.75);
  EXPECT_DOUBLE_EQ(*BusFactor("Gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(*BusFactor("Broadcast", std::nullopt), 1);
  EXPECT_DOUBLE_EQ(*BusFactor("Send+Recv", std::nullopt), 1);
  EXPECT_FALSE(BusFactor("AllReduce", std::nullopt));
  EXPECT_FALSE(BusFactor("AllReduce", 1));
  EXPECT_FALSE(BusFactor("AllGather+AllReduce", 4));
}

}  // namespace
}  // namespace traceinject
