// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernel_work.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/metrics/kernels/kernels.h"
#include "analyzer/model/testing/gemm_shapes.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr int kFp32 = 0, kFp16 = 2, kFastTf32 = 77;
constexpr const char* kSgemm = "ampere_sgemm_128x64_nn";

AttentionShape Attention(int causal) {
  AttentionShape shape;
  shape.library = 1;
  shape.batch = 2;
  shape.heads = 8;
  shape.kv_heads = 4;
  shape.query_length = shape.key_length = 1000;
  shape.head_size = shape.value_head_size = 64;
  shape.type = kBf16Type;
  shape.causal = causal;
  return shape;
}

// One kernel of `ns` in a call for a product.
void AddProduct(RankBuilder& builder, TimeNs at, TimeNs ns, const GemmShape& shape,
                const char* kernel = kNvjet) {
  const auto launch = builder.AddApi(at + 10, at + 20, "cudaLaunchKernel");
  builder.AddGemm(at, at + 100, shape);
  builder.AddKernel(at + 1000, at + 1000 + ns, kernel, launch);
}

void AddAttentionCall(RankBuilder& builder, TimeNs at, TimeNs ns, const AttentionShape& shape,
                      bool backward, const char* kernel) {
  const auto launch = builder.AddApi(at + 10, at + 20, "cudaLaunchKernel");
  builder.AddAttention(at, at + 100, shape, backward);
  builder.AddKernel(at + 1000, at + 1000 + ns, kernel, launch);
}

// Of the kernels of that name; without work: none is known.
KernelWork WorkOf(RankBuilder& builder, std::string_view name) {
  const Device& device = builder.rank().devices[0];
  for (const auto& [id, work] : MeasureKernelWork(
           builder.rank(), device, LibraryCalls(builder.rank()), {{0, device.ops.size()}})) {
    if (builder.rank().string(id) == name) return work;
  }
  return {};
}

TEST(KernelWorkTest, AProductAgainstTheRooflineOfItsGpu) {
  RankBuilder builder;
  // 2 x 4096^3 = 137.4 GFLOP: 139 us at 989 TFLOPS.
  AddProduct(builder, 0, 200'000, Product(4096, 4096, 4096));
  const KernelWork work = WorkOf(builder, kNvjet);
  const double flops = 2.0 * 4096 * 4096 * 4096, bytes = 3 * 2.0 * 4096 * 4096;
  EXPECT_EQ(work.kernels, 1);
  EXPECT_EQ(work.dtype, "bf16");
  EXPECT_DOUBLE_EQ(work.flops, flops);
  EXPECT_DOUBLE_EQ(*work.bytes, bytes);
  EXPECT_NEAR(*work.tflops_per_s(), flops / 200e-6 / 1e12, 1e-9);
  EXPECT_NEAR(*work.peak_share(), flops / 989e12 / 200e-6, 1e-9);
  EXPECT_NEAR(*work.reached_share(), flops / (0.8 * 989e12) / 200e-6, 1e-9);
  EXPECT_NEAR(*work.intensity(), 4096 / 3.0, 1e-9);
  EXPECT_TRUE(*work.compute_bound());
  EXPECT_NEAR(*work.ideal_ns, flops / (0.8 * 989e12) * 1e9, 1e-3);
  EXPECT_NEAR(*work.time_above_ideal_ns(), 200'000 - *work.ideal_ns, 1e-6);
}

TEST(KernelWorkTest, AThinProductIsBoundByMemory) {
  RankBuilder builder;
  AddProduct(builder, 0, 50'000, Product(4096, 8, 4096));
  const KernelWork work = WorkOf(builder, kNvjet);
  EXPECT_FALSE(*work.compute_bound());
  EXPECT_NEAR(*work.ideal_ns, *work.bytes / 4800 / 0.85, 1e-6);
}

TEST(KernelWorkTest, MoreThanThePeakIsRefused) {
  RankBuilder builder;
  AddProduct(builder, 0, 100'000, Product(4096, 4096, 4096));
  const KernelWork work = WorkOf(builder, kNvjet);
  EXPECT_FALSE(work.peak_share());
  EXPECT_FALSE(work.reached_share());
  EXPECT_FALSE(work.time_above_ideal_ns());
  EXPECT_EQ(work.refusal(), "139.0 % of the peak is impossible");
}

TEST(KernelWorkTest, TheTypeOfTheCallBeatsThatOfTheName) {
  RankBuilder builder;
  AddProduct(builder, 0, 200'000, Product(64, 64, 64, kFp16));
  EXPECT_EQ(WorkOf(builder, kNvjet).dtype, "fp16");
  KernelCounter counter;
  const Device& device = builder.rank().devices[0];
  counter.Add(builder.rank(), device, {{0, 1}},
              MeasureKernelWork(builder.rank(), device, LibraryCalls(builder.rank()), {{0, 1}}));
  EXPECT_EQ(counter.Finish().kernels[0].dtype(), "fp16");
}

TEST(KernelWorkTest, TheNameTellsWhatACallForFp32LeavesOpen) {
  constexpr const char* kTf32 = "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4";
  constexpr const char* kTold = "sm80_xmma_gemm_f32f32_f32f32_f32_nn";
  RankBuilder builder;
  AddProduct(builder, 0, 200'000, Product(512, 512, 512, kFp32), kSgemm);
  AddProduct(builder, 1'000'000, 200'000, Product(512, 512, 512, kFp32), kTf32);
  AddProduct(builder, 2'000'000, 200'000, Product(512, 512, 512, kFp32), kTold);
  AddProduct(builder, 3'000'000, 200'000, Product(512, 512, 512, kFp32, kFastTf32), "gemm_x");
  const double flops = 2.0 * 512 * 512 * 512;
  EXPECT_EQ(WorkOf(builder, kSgemm).dtype, "fp32");
  EXPECT_NEAR(*WorkOf(builder, kSgemm).peak_share(), flops / 67e12 / 200e-6, 1e-9);
  EXPECT_EQ(WorkOf(builder, kTf32).dtype, "tf32");
  EXPECT_NEAR(*WorkOf(builder, kTf32).peak_share(), flops / 494.5e12 / 200e-6, 1e-9);
  EXPECT_FALSE(WorkOf(builder, kTold).peak_share()) << "fp32 on tensor cores has several ways";
  EXPECT_DOUBLE_EQ(WorkOf(builder, kTold).flops, flops);
  EXPECT_TRUE(WorkOf(builder, "gemm_x").tf32_allowed);
  EXPECT_EQ(WorkOf(builder, "gemm_x").dtype, "tf32");
}

TEST(KernelWorkTest, TypesWithoutARateHaveNoShare) {
  RankBuilder builder;
  AddProduct(builder, 0, 200'000, Product(512, 512, 512, 1), "cutlass_80_tensorop_d884gemm");
  const KernelWork work = WorkOf(builder, "cutlass_80_tensorop_d884gemm");
  EXPECT_EQ(work.dtype, "fp64");
  EXPECT_TRUE(work.tflops_per_s());
  EXPECT_FALSE(work.peak_share());
  EXPECT_FALSE(work.compute_bound());
  EXPECT_FALSE(work.refusal().empty());
}

TEST(KernelWorkTest, HelpersHaveNoWork) {
  constexpr const char* kSum = "void cublasLt::splitKreduce_kernel<32, 16, int, float>()";
  RankBuilder builder;
  const auto product = builder.AddApi(10, 20, "cudaLaunchKernel");
  const auto sum = builder.AddApi(30, 40, "cudaLaunchKernel");
  builder.AddGemm(0, 100, Product(512, 512, 512));
  builder.AddKernel(1000, 21'000, kNvjet, product);
  builder.AddKernel(21'000, 25'000, kSum, sum);
  EXPECT_EQ(WorkOf(builder, kNvjet).known_ns, 20'000);
  EXPECT_EQ(WorkOf(builder, kSum).kernels, 0);
}

TEST(KernelWorkTest, OfAConvolutionItMovesItsTensors) {
  constexpr const char* kConvolution = "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwc";
  constexpr const char* kToNhwc = "void cudnn::ops::nchwToNhwcKernel<__nv_bfloat16>(int)";
  GemmShape shape = Product(64, 32 * 112 * 112, 147);
  shape.least_bytes = 70'000'000;
  RankBuilder builder;
  const auto layout = builder.AddApi(10, 20, "cudaLaunchKernel");
  const auto convolution = builder.AddApi(30, 40, "cudaLaunchKernel");
  builder.AddGemm(0, 100, shape);
  builder.AddKernel(1000, 21'000, kToNhwc, layout);
  builder.AddKernel(21'000, 121'000, kConvolution, convolution);
  const KernelWork work = WorkOf(builder, kConvolution);
  EXPECT_EQ(work.known_ns, 100'000);
  EXPECT_DOUBLE_EQ(work.flops, 2.0 * 64 * 32 * 112 * 112 * 147);
  EXPECT_DOUBLE_EQ(*work.bytes, 70'000'000) << "not those of the product that it amounts to";
  EXPECT_EQ(WorkOf(builder, kToNhwc).kernels, 0);
}

TEST(KernelWorkTest, SeveralKernelsOfACallShareItsWorkOnlyUnderOneName) {
  RankBuilder builder;
  for (const TimeNs at : {0, 100'000}) {
    const auto first = builder.AddApi(at + 10, at + 20, "cudaLaunchKernel");
    const auto second = builder.AddApi(at + 30, at + 40, "cudaLaunchKernel");
    builder.AddGemm(at, at + 100, Product(512, 512, 512));
    builder.AddKernel(at + 1000, at + 11'000, kNvjet, first);
    builder.AddKernel(at + 11'000, at + 21'000, at == 0 ? kNvjet : "nvjet_other", second);
  }
  const KernelWork work = WorkOf(builder, kNvjet);
  EXPECT_EQ(work.kernels, 2);
  EXPECT_EQ(work.known_ns, 20'000);
  EXPECT_DOUBLE_EQ(work.flops, 2.0 * 512 * 512 * 512);
  EXPECT_EQ(WorkOf(builder, "nvjet_other").kernels, 0);
}

TEST(KernelWorkTest, GroupsOfACallAddUp) {
  RankBuilder builder;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddGemm(0, 100, Product(10, 10, 10));
  builder.AddGemm(0, 100, Product(20, 20, 20));
  builder.AddKernel(1000, 2000, kNvjet, launch);
  EXPECT_DOUBLE_EQ(WorkOf(builder, kNvjet).flops, 2.0 * (1000 + 8000));
}

TEST(KernelWorkTest, AttentionForwardAndBackward) {
  constexpr const char* kForwardKernel = "flash_fwd_kernel";
  constexpr const char* kBackwardKernel = "flash_bwd_dq_dk_dv_loop_kernel";
  RankBuilder builder;
  AddAttentionCall(builder, 0, 50'000, Attention(0), false, kForwardKernel);
  AddAttentionCall(builder, 1'000'000, 50'000, Attention(1), true, kBackwardKernel);
  const double q = 2.0 * 2 * 8 * 1000 * 64, kv = 2.0 * 2 * 4 * 1000 * 64;  // bytes
  const KernelWork forward = WorkOf(builder, kForwardKernel);
  EXPECT_DOUBLE_EQ(forward.flops, 2 * (2.0 * 2 * 8 * 1000 * 1000 * 64));
  EXPECT_DOUBLE_EQ(*forward.bytes, q + 2 * kv + q);
  EXPECT_EQ(forward.dtype, "bf16");
  const KernelWork backward = WorkOf(builder, kBackwardKernel);
  EXPECT_DOUBLE_EQ(backward.flops, 5 * (2.0 * 2 * 8 * (1000 * 1001 / 2) * 64))
      << "half of the pairs, and the diagonal";
  EXPECT_DOUBLE_EQ(*backward.bytes, 2 * (q + 2 * kv) + q);
}

TEST(KernelWorkTest, AttentionOfWhichTheMaskIsNotKnownHasNone) {
  RankBuilder builder;
  AttentionShape longer = Attention(1);
  longer.key_length = 2000;
  AddAttentionCall(builder, 0, 50'000, Attention(-1), false, "flash_fwd_kernel");
  AddAttentionCall(builder, 1'000'000, 50'000, longer, false, "flash_fwd_kernel");
  EXPECT_EQ(WorkOf(builder, "flash_fwd_kernel").kernels, 0);
}

TEST(KernelWorkTest, SumsLoseWhatOnePartDoesNotTell) {
  RankBuilder builder;
  AddProduct(builder, 0, 200'000, Product(512, 512, 512));
  GemmShape unknown = Product(512, 512, 512);
  unknown.type_c = -1;
  AddProduct(builder, 1'000'000, 200'000, unknown);
  const KernelWork work = WorkOf(builder, kNvjet);
  EXPECT_EQ(work.kernels, 2);
  EXPECT_TRUE(work.peak_share());
  EXPECT_FALSE(work.bytes);
  EXPECT_FALSE(work.intensity());
  EXPECT_FALSE(work.compute_bound());
  EXPECT_FALSE(work.time_above_ideal_ns());
}

TEST(KernelWorkTest, AnUnknownGpuHasNoPeak) {
  RankBuilder builder;
  builder.rank().devices[0].name = "NVIDIA Quadro 9000";
  AddProduct(builder, 0, 200'000, Product(512, 512, 512));
  const KernelWork work = WorkOf(builder, kNvjet);
  EXPECT_TRUE(work.tflops_per_s());
  EXPECT_TRUE(work.intensity());
  EXPECT_FALSE(work.peak_share());
  EXPECT_EQ(work.refusal(), "the peak rate of this type on this GPU is not known");
}

}  // namespace
}  // namespace traceinject
