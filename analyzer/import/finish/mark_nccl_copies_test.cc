// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/mark_nccl_copies.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

KernelClass ClassOfOnlyCopy(RankBuilder& builder) {
  Rank rank = builder.rank();
  MarkNcclCopies(rank);
  const GpuOps& ops = rank.devices[0].ops;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] == OpKind::kMemcpy) return ops.kernel_class[row];
  }
  return KernelClass::kMemset;
}

TEST(MarkNcclCopiesTest, CopyOfAnOperationWithoutAKernelIsCommunication) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AllGather", 1'000, builder.AddCommunicator(4, 0, 0)});
  builder.AddCopy(300, 400, Transfer{}, builder.AddApi(150, 160, "cudaMemcpyAsync"));
  EXPECT_EQ(ClassOfOnlyCopy(builder), KernelClass::kComm);
}

TEST(MarkNcclCopiesTest, SetUpBesideAKernelIsACopy) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AllGather", 1'000, builder.AddCommunicator(4, 0, 0)});
  builder.AddCopy(300, 400, Transfer{}, builder.AddApi(150, 160, "cudaMemcpyAsync"));
  builder.AddKernel(500, 600, "ncclDevKernel_AllGather_RING_LL",
                    builder.AddApi(170, 180, "cudaLaunchKernelExC"));
  EXPECT_EQ(ClassOfOnlyCopy(builder), KernelClass::kMemcpy);
}

TEST(MarkNcclCopiesTest, CopiesOutsideAndOnOtherThreadsAreNotNccls) {
  for (const auto& [time, thread] : {std::pair<TimeNs, std::uint32_t>{250, 0}, {150, 1}}) {
    RankBuilder builder;
    builder.AddCall({100, 200, "AllGather", 1'000, builder.AddCommunicator(4, 0, 0), 0});
    builder.AddCopy(300, 400, Transfer{},
                    builder.AddApi(time, time + 5, "cudaMemcpyAsync", thread));
    EXPECT_EQ(ClassOfOnlyCopy(builder), KernelClass::kMemcpy);
  }
}

}  // namespace
}  // namespace traceinject
