// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/attention.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/kernels/matrix_products.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kForward = "flash_fwd_kernel";
constexpr const char* kBackward = "flash_bwd_dq_dk_dv_loop_kernel";

AttentionShape SmallAttention() {
  AttentionShape shape;
  shape.library = 1;
  shape.batch = 2;
  shape.heads = 3;
  shape.kv_heads = 1;
  shape.query_length = 5;
  shape.key_length = 7;
  shape.head_size = 11;
  shape.value_head_size = 13;
  return shape;
}
constexpr double kForwardFlops = 2.0 * 2 * 3 * 5 * 7 * (11 + 13);
constexpr double kBackwardFlops = 2.0 * 2 * 3 * 5 * 7 * (3 * 11 + 2 * 13);

AttentionCalls Count(RankBuilder& builder, std::size_t device = 0) {
  const Device& of = builder.rank().devices[device];
  return CountAttention(builder.rank(), of, LibraryCalls(builder.rank()), {{0, of.ops.size()}},
                        {{0, 1'000'000}});
}

TEST(Attention, FlopsOfACall) {
  EXPECT_DOUBLE_EQ(*AttentionFlops(SmallAttention(), false), kForwardFlops);
  EXPECT_DOUBLE_EQ(*AttentionFlops(SmallAttention(), true), kBackwardFlops);
  AttentionShape packed = SmallAttention();
  packed.query_length = -1;
  EXPECT_FALSE(AttentionFlops(packed, false).has_value());
}

TEST(Attention, KernelsOfACallAreThoseItsThreadLaunchedMeanwhile) {
  RankBuilder builder;
  const auto before = builder.AddApi(80, 90, "cudaLaunchKernel");
  const auto inside = builder.AddApi(110, 120, "cudaLaunchKernel");
  const auto other = builder.AddApi(115, 125, "cudaLaunchKernel", 1);
  builder.AddAttention(100, 200, SmallAttention());
  builder.AddKernel(1000, 1001, kForward, before);
  builder.AddKernel(1010, 1020, kForward, inside);
  builder.AddKernel(1020, 1050, kForward, other);
  const AttentionCalls found = Count(builder);
  EXPECT_EQ(found.calls, 1);
  EXPECT_EQ(found.linked_calls, 1);
  EXPECT_EQ(found.backward_calls, 0);
  EXPECT_EQ(found.kernel_ns, 10);
  EXPECT_DOUBLE_EQ(found.flops, kForwardFlops);
  EXPECT_EQ(found.unknown_ns, 31) << "launched outside of the call";
  EXPECT_EQ(found.all_kernels_ns, 41);
}

TEST(Attention, ABackwardWithoutAnEndLastsUntilTheNextCallOfItsThread) {
  RankBuilder builder;
  const auto first = builder.AddApi(110, 120, "cudaLaunchKernel");
  const auto cast = builder.AddApi(130, 140, "cudaLaunchKernel");
  const auto second = builder.AddApi(150, 160, "cudaLaunchKernel");
  const auto product = builder.AddApi(210, 220, "cudaLaunchKernel");
  const auto third = builder.AddApi(310, 320, "cudaLaunchKernel");
  GemmShape gemm;
  gemm.m = gemm.n = gemm.k = gemm.batch = 1;
  builder.AddAttention(100, kOpen, SmallAttention(), true);
  builder.AddGemm(200, 230, gemm);
  builder.AddAttention(300, kOpen, SmallAttention(), true);
  builder.AddKernel(1000, 1010, kBackward, first);
  builder.AddKernel(1010, 1020, "vectorized_elementwise_kernel", cast);
  builder.AddKernel(1020, 1040, kBackward, second);
  builder.AddKernel(1040, 1050, kGemm, product);
  builder.AddKernel(1050, 1090, kBackward, third);
  const AttentionCalls found = Count(builder);
  EXPECT_EQ(found.calls, 2);
  EXPECT_EQ(found.backward_calls, 2);
  EXPECT_EQ(found.linked_calls, 2);
  EXPECT_EQ(found.kernel_ns, 70) << "those that look like attention";
  EXPECT_DOUBLE_EQ(found.flops, 2 * kBackwardFlops);
  EXPECT_EQ(found.unknown_ns, 0);
}

TEST(Attention, ACallThatMadeProductsIsCountedByThem) {
  RankBuilder builder;
  const auto scores = builder.AddApi(110, 120, "cudaLaunchKernel");
  const auto softmax = builder.AddApi(130, 140, "cudaLaunchKernel");
  GemmShape gemm;
  gemm.m = gemm.n = gemm.k = gemm.batch = 4;
  builder.AddAttention(100, 200, SmallAttention());
  builder.AddGemm(105, 125, gemm);
  builder.AddKernel(1000, 1010, kGemm, scores);
  builder.AddKernel(1010, 1020, "softmax_warp_forward", softmax);
  const AttentionCalls found = Count(builder);
  EXPECT_EQ(found.calls, 1);
  EXPECT_EQ(found.product_calls, 1);
  EXPECT_EQ(found.linked_calls, 0);
  EXPECT_DOUBLE_EQ(found.flops, 0);
  EXPECT_EQ(found.unknown_ns, 0);
  const Device& device = builder.rank().devices[0];
  EXPECT_EQ(CountMatrixProducts(builder.rank(), device, LibraryCalls(builder.rank()),
                                {{0, device.ops.size()}}, {{0, 1'000'000}})
                .linked_calls,
            1);
}

TEST(Attention, WhatNoCallClaimsIsUnknown) {
  RankBuilder builder;
  const auto graph = builder.AddApi(110, 120, "cudaGraphLaunch");
  builder.AddKernel(1000, 1010, kForward, graph);
  builder.AddKernel(1010, 1040, kGemm, graph);
  builder.AddKernel(1040, 1100, "layer_norm", graph);
  builder.AddKernel(1100, 1200, "sm90_xmma_fprop_implicit_gemm_bf16");
  const AttentionCalls found = Count(builder);
  EXPECT_EQ(found.calls, 0);
  EXPECT_EQ(found.unknown_ns, 140);
  EXPECT_DOUBLE_EQ(*found.unknown_share(), 0.7);
}

TEST(Attention, PackedSequencesHaveKernelsAndNoFlops) {
  RankBuilder builder;
  AttentionShape packed = SmallAttention();
  packed.batch = packed.query_length = packed.key_length = -1;
  const auto launch = builder.AddApi(110, 120, "cudaLaunchKernel");
  builder.AddAttention(100, 200, packed);
  builder.AddKernel(1000, 1010, kForward, launch);
  const AttentionCalls found = Count(builder);
  EXPECT_EQ(found.linked_calls, 1);
  EXPECT_EQ(found.unknown_calls, 1);
  EXPECT_DOUBLE_EQ(found.flops, 0);
  EXPECT_EQ(found.unknown_ns, 10);
}

TEST(Attention, CallsWithoutKernelsCountOnce) {
  RankBuilder builder;
  const std::size_t second = builder.AddDevice("NVIDIA H200");
  const auto launch = builder.AddApi(110, 120, "cudaLaunchKernel");
  builder.AddAttention(100, 200, SmallAttention());
  builder.AddAttention(300, 310, SmallAttention());              // captured into a graph
  builder.AddAttention(2'000'000, 2'000'010, SmallAttention());  // after the window
  builder.AddKernel(300, 340, "norm");
  builder.AddKernel(300, 340, kForward, launch, second);
  AttentionCalls sum = Count(builder);
  EXPECT_EQ(sum.calls, 1);
  EXPECT_EQ(sum.linked_calls, 0);
  sum += Count(builder, second);
  EXPECT_EQ(sum.calls, 2);
  EXPECT_EQ(sum.linked_calls, 1);
  EXPECT_EQ(sum.all_kernels_ns, 80);
}

}  // namespace
}  // namespace traceinject
