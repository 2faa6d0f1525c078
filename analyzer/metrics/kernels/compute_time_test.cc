// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/compute_time.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "analyzer/metrics/idle/partition.h"
#include "analyzer/model/testing/gemm_shapes.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kSplit = "void cublasLt::splitKreduce_kernel<32, 16, int, float>(float)";
constexpr const char* kFlash = "void pytorch_flash::flash_fwd_kernel<cutlass::bfloat16_t>(x)";
constexpr const char* kGelu = "void at::native::vectorized_elementwise_kernel<4, Gelu>(int)";
constexpr const char* kConv = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc";

AttentionShape Causal() {
  AttentionShape shape;
  shape.library = 1;
  shape.batch = 2;
  shape.heads = shape.kv_heads = 8;
  shape.query_length = shape.key_length = 1000;
  shape.head_size = shape.value_head_size = 64;
  shape.type = kBf16Type;
  shape.causal = 1;
  return shape;
}

ComputeTime Divide(RankBuilder& builder, const Intervals& times) {
  const Rank& rank = builder.rank();
  return DivideComputeTime(rank, rank.devices[0], LibraryCalls(rank), times);
}

TEST(ComputeTimeTest, AProductWithItsHelperIsOne) {
  RankBuilder builder;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  const auto reduce = builder.AddApi(30, 40, "cudaLaunchKernel");
  builder.AddGemm(0, 100, Product(4096, 4096, 4096));
  builder.AddKernel(1'000, 201'000, kNvjet, launch);
  builder.AddKernel(201'000, 221'000, kSplit, reduce);
  const ComputeTime time = Divide(builder, {{0, 300'000}});
  const ComputeKindTime& products = time.of(ComputeKind::kProduct);
  EXPECT_EQ(products.ns, 220'000);
  ASSERT_EQ(products.groups.size(), 1U);
  EXPECT_EQ(products.groups[0].name, "4096 x 4096 x 4096, bf16");
  EXPECT_EQ(products.groups[0].kernels, 2);
  EXPECT_EQ(products.groups[0].kernel_ns, 220'000);
  const double peak_ns = 2.0 * 4096 * 4096 * 4096 / 989e12 * 1e9;
  EXPECT_NEAR(products.groups[0].peak_ns, peak_ns, 1e-6) << "once, of two kernels";
  EXPECT_NEAR(products.groups[0].reached_ns, peak_ns / 0.8, 1e-6);
  EXPECT_NEAR(products.groups[0].memory_ns, 3 * 2.0 * 4096 * 4096 / 4800 / 0.85, 1e-6);
}

TEST(ComputeTimeTest, AttentionCountsThePairsThatItsMaskLeaves) {
  RankBuilder builder;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddAttention(0, 100, Causal(), false);
  builder.AddKernel(1'000, 51'000, kFlash, launch);
  const ComputeTime time = Divide(builder, {{0, 100'000}});
  const ComputeKindTime& attention = time.of(ComputeKind::kAttention);
  ASSERT_EQ(attention.groups.size(), 1U);
  EXPECT_EQ(attention.groups[0].name, "attention forward: 2 x 8 heads, 1000 x 1000 x 64, causal");
  const double pairs = 1000.0 * 1001 / 2, per_pair = 2.0 * 2 * 8 * (64 + 64);
  EXPECT_NEAR(attention.groups[0].peak_ns, pairs * per_pair / 989e3, 1e-6);
  EXPECT_NEAR(attention.groups[0].reached_ns, attention.groups[0].peak_ns / 0.75, 1e-6);
  EXPECT_NEAR(attention.groups[0].full_square_ns, (1000.0 * 1000 - pairs) * per_pair / 989e3, 1e-6);
}

TEST(ComputeTimeTest, OthersByNameAndClass) {
  RankBuilder builder;
  builder.AddKernel(0, 10'000, kConv);
  builder.AddKernel(10'000, 14'000, kNvjet);
  builder.AddKernel(20'000, 25'000, kGelu);
  builder.AddKernel(30'000, 90'000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const ComputeTime time = Divide(builder, {{0, 100'000}});
  const ComputeKindTime& unknown = time.of(ComputeKind::kUnknownWork);
  EXPECT_EQ(unknown.ns, 14'000);
  ASSERT_EQ(unknown.groups.size(), 2U);
  EXPECT_EQ(unknown.groups[0].name, kConv);
  EXPECT_EQ(unknown.groups[1].name, kNvjet);
  EXPECT_EQ(time.of(ComputeKind::kOther).ns, 5'000);
  ASSERT_EQ(time.of(ComputeKind::kOther).groups.size(), 1U);
  EXPECT_EQ(time.of(ComputeKind::kOther).groups[0].name, "elementwise");
  EXPECT_EQ(time.total_ns(), 19'000) << "communication computes nothing";
}

TEST(ComputeTimeTest, OfParallelKernelsTheProductHasTheTime) {
  RankBuilder builder;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddGemm(0, 100, Product(512, 512, 512));
  builder.AddKernel(1'000, 11'000, kGelu);
  builder.AddKernel(5'000, 25'000, kNvjet, launch);
  const ComputeTime time = Divide(builder, {{0, 100'000}});
  EXPECT_EQ(time.of(ComputeKind::kProduct).ns, 20'000);
  EXPECT_EQ(time.of(ComputeKind::kOther).ns, 4'000);
}

TEST(ComputeTimeTest, OnlyTheGivenTimesCount) {
  RankBuilder builder;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddGemm(0, 100, Product(512, 512, 512));
  builder.AddKernel(1'000, 20'000, kNvjet, launch);
  builder.AddKernel(30'000, 60'000, kGelu);
  const ComputeTime time = Divide(builder, {{10'000, 12'000}, {15'000, 35'000}, {50'000, 70'000}});
  EXPECT_EQ(time.of(ComputeKind::kProduct).ns, 2'000 + 5'000);
  EXPECT_EQ(time.of(ComputeKind::kOther).ns, 5'000 + 10'000);
  EXPECT_TRUE(time.of(ComputeKind::kProduct).groups.empty() ||
              time.of(ComputeKind::kProduct).groups[0].peak_ns == 0)
      << "it began before";
}

// The kinds divide exactly what a partition calls computing.
TEST(ComputeTimeTest, AddsUpToTheComputingTimeOfAPartition) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    RankBuilder builder;
    const auto pick = [&](int below) { return static_cast<int>(random() % below); };
    TimeNs at = 1'000;
    for (int i = 0; i < 60; ++i) {
      const char* names[] = {kNvjet, kGelu, kConv, kFlash, "ncclDevKernel_AllGather_RING_LL"};
      at += pick(500);
      const auto launch = builder.AddApi(at - 400, at - 390, "cudaLaunchKernel");
      if (pick(2) == 0) builder.AddGemm(at - 410, at - 380, Product(64, 64, 64));
      builder.AddKernel(at, at + 1 + pick(2'000), names[pick(5)], launch);
    }
    Intervals times;
    for (TimeNs start = pick(300); start < at; start += 1'000 + pick(3'000))
      times.push_back({start, start + 1 + pick(900)});
    const ComputeTime time = Divide(builder, times);
    TimeNs computing = 0;
    for (const Interval& each : times)
      computing += PartitionOf(builder.rank().devices[0].ops, each).compute_ns;
    EXPECT_EQ(time.total_ns(), computing) << round;
  }
}

}  // namespace
}  // namespace traceinject
