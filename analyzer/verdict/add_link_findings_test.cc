// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_link_findings.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/verdict/testing/analyzed_device.h"

namespace traceinject {
namespace {

// Twelve steps of 10 ms, each with so many exchanges of gradients of so many bytes.
RankBuilder Training(int exchanges, std::int64_t bytes, const char* function = "AllReduce") {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, 0, 0);
  TimeNs now = 1'000'000;
  for (int step = 0; step < 12; ++step, now += 10'000'000) {
    TimeNs at = now;
    builder.AddKernel(at + 100'000, at + 600'000, "gemm",
                      builder.AddApi(at, at + 1'000, "cudaLaunchKernel"));
    for (int i = 0; i < exchanges; ++i) {
      at += 1'000'000;
      builder.AddCall({at, at + 10'000, function, bytes, communicator});
      builder.AddKernel(at + 20'000, at + 520'000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                        builder.AddApi(at + 1'000, at + 2'000, "cuLaunchKernelEx"));
    }
    builder.AddStepMark(now + 9'000'000);
  }
  return builder;
}

proto::DeviceReport BucketsOf(RankBuilder builder) {
  const Rank& rank = builder.rank();
  const GpuOps& ops = rank.devices[0].ops;
  proto::DeviceReport report;
  AddBucketFindings(AnalyzedDevice(rank, {ops.start.front(), ops.end.back()}), report);
  return report;
}

TEST(BucketsTest, OutsideOfTheAdviceAreTold) {
  const proto::DeviceReport small = BucketsOf(Training(6, 10'000'000));
  ASSERT_EQ(small.link_findings_size(), 1);
  EXPECT_EQ(small.link_findings(0).name(), "small_buckets");
  EXPECT_NE(small.link_findings(0).text().find("10.00 MB (median), 6 per step"), std::string::npos)
      << small.link_findings(0).text();
  EXPECT_NE(small.link_findings(0).setting().find("bucket_cap_mb"), std::string::npos);
  const proto::DeviceReport large = BucketsOf(Training(2, 300'000'000));
  ASSERT_EQ(large.link_findings_size(), 1);
  EXPECT_EQ(large.link_findings(0).name(), "large_buckets");
}

TEST(BucketsTest, AdvisedOnesAndSmallModelsAreNot) {
  EXPECT_EQ(BucketsOf(Training(4, 26'000'000)).link_findings_size(), 0);
  EXPECT_EQ(BucketsOf(Training(4, 10'000'000)).link_findings_size(), 0) << "40 MB in all";
  EXPECT_EQ(BucketsOf(Training(4, 100'000)).link_findings_size(), 0);
  EXPECT_EQ(BucketsOf(Training(0, 0)).link_findings_size(), 0);
}

// Of two ranks, so that a rank's part of 5 MB is an exchange of 10 MB.
TEST(BucketsTest, ScatteredGradientsAreWrappedOtherwise) {
  const proto::DeviceReport small = BucketsOf(Training(6, 5'000'000, "ReduceScatter"));
  ASSERT_EQ(small.link_findings_size(), 1);
  EXPECT_NE(small.link_findings(0).text().find("10.00 MB"), std::string::npos);
  EXPECT_NE(small.link_findings(0).setting().find("fully_shard"), std::string::npos);
}

TEST(SlowCommunicationTest, IsToldWhereItLimitsTheRunAndIsKnown) {
  proto::DeviceReport report;
  const auto findings = [&](const char* label) {
    report.clear_link_findings();
    AddSlowCommunication(label, NcclTransport::kGpuToGpu, report);
    return report.link_findings_size();
  };
  EXPECT_EQ(findings("comm_exposed"), 0);
  proto::RankLink& link = *report.mutable_nccl()->mutable_link();
  link.set_name("NVLink");
  link.set_busbw_gb_per_s(90);
  link.set_link_gb_per_s(450);
  link.set_link_share(0.2);
  EXPECT_EQ(findings("comm_exposed"), 1);
  EXPECT_NE(report.link_findings(0).text().find("90.0 GB/s without waiting, 20 % of NVLink (450"),
            std::string::npos)
      << report.link_findings(0).text();
  EXPECT_EQ(report.link_findings(0).setting().find("NCCL_P2P_LEVEL"), std::string::npos);
  report.clear_link_findings();
  AddSlowCommunication("comm_exposed", NcclTransport::kSockets, report);
  EXPECT_NE(report.link_findings(0).setting().find("NCCL_SOCKET_IFNAME"), std::string::npos);
  EXPECT_EQ(findings("dataloader"), 0);
  link.set_waiting_included(true);
  EXPECT_EQ(findings("comm_exposed"), 0) << "it may be waiting";
  link.set_waiting_included(false);
  link.set_link_share(0.6);
  EXPECT_EQ(findings("comm_exposed"), 0);
}

}  // namespace
}  // namespace traceinject
