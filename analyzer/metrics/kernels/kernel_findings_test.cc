// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernel_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(int)";
constexpr const char* kLogSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(int)";
constexpr const char* kForeach =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<3>, at::native::(anonymous "
    "namespace)::PointwiseOpScalarFunctor<float, 3, 3, 0>, std::multiplies<float>, float>(int)";
constexpr const char* kSgd =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, at::native::(anonymous "
    "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)";
constexpr const char* kFused =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
    "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float>(int)";
constexpr const char* kAddcdiv =
    "void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel(at::Tensor"
    "IteratorBase&, c10::Scalar const&)::{lambda(float, float, float)#1}>(int)";
constexpr const char* kToNhwcKernel =
    "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)";
constexpr const char* kTf32Convolution =
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_x";

// Kernels by name and time, of a GPU of this compute capability.
class Recording {
 public:
  Recording(int cc_major, std::vector<std::pair<std::string, TimeNs>> kernels) {
    builder_.rank().devices[0].cc_major = cc_major;
    builder_.rank().devices[0].cc_minor = 0;
    TimeNs at = 0;
    for (const auto& [name, ns] : kernels) {
      builder_.AddKernel(at, at + ns, name);
      at += ns;
    }
  }

  // What the batched products around a softmax look like.
  Recording& WithBatchedProducts() {
    MatrixProductRow row;
    row.shape.batch = 12;
    products_.rows.push_back(row);
    return *this;
  }

  Rank& rank() { return builder_.rank(); }

  std::vector<KernelFinding> Find() {
    const Device& device = builder_.rank().devices[0];
    KernelCounter counter;
    counter.Add(builder_.rank(), device, {{0, device.ops.size()}},
                MeasureKernelWork(builder_.rank(), device, LibraryCalls(builder_.rank()),
                                  {{0, device.ops.size()}}));
    return FindInKernels(builder_.rank(), device, counter.Finish(), products_);
  }

  // "fp32_products 0.30", ...
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const KernelFinding& finding : Find()) names.emplace_back(finding.name);
    return names;
  }

 private:
  RankBuilder builder_;
  MatrixProducts products_;
};

using Names = std::vector<std::string>;

TEST(KernelFindings, AHealthyModelHasNone) {
  EXPECT_EQ(Recording(9, {{kNvjet, 700}, {kFused, 200}, {kLogSoftmax, 100}}).Names(), Names());
}

TEST(KernelFindings, UnalignedRows) {
  constexpr const char* kUnaligned = "cutlass_90_tensorop_bf16_s16816gemm_bf16_64x64_nn_align1";
  auto findings = Recording(9, {{kNvjet, 700}, {kUnaligned, 200}, {kUnaligned, 100}}).Find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "unaligned_products");
  EXPECT_EQ(findings[0].kernels, 2);
  EXPECT_EQ(findings[0].total_ns, 300);
  EXPECT_DOUBLE_EQ(findings[0].share, 0.3);
  EXPECT_EQ(findings[0].example, kUnaligned);
  EXPECT_FALSE(findings[0].above_ideal_ns) << "no call tells their work";
  EXPECT_EQ(DescribeFinding(findings[0]),
            "GEMMs with unaligned rows: 30.0 % of the kernel time, 300 ns in 2 launches");
  EXPECT_EQ(Recording(9, {{kNvjet, 990}, {kUnaligned, 10}}).Names(), Names()) << "below 2 %";
  EXPECT_EQ(Recording(8, {{"sm80_xmma_gemm_bf16bf16_aligna2_alignc8_x", 10}}).Names(),
            Names{"unaligned_products"});
  for (const char* aligned :
       {"cutlass_90_tensorop_gemm_nn_align8", "cutlass_90_gemm_align16",
        "cutlass_90_tensorop_gemm_align128x1", "sm90_xmma_gemm_bf16bf16_aligna8_alignc16_x"})
    EXPECT_EQ(Recording(9, {{aligned, 100}}).Names(), Names()) << aligned;
}

TEST(KernelFindings, WhatIsAboveTheIdealTimeIsAnUpperBound) {
  RankBuilder builder;
  builder.rank().devices[0].cc_major = 9;
  const std::string name = "cutlass_90_tensorop_bf16_s16816gemm_bf16_64x64_nn_align2";
  GemmShape shape;
  shape.m = shape.n = shape.k = 1024;
  shape.batch = 1;
  shape.type_a = shape.type_b = shape.type_c = 14;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddGemm(0, 100, shape);
  builder.AddKernel(1000, 101'000, name, launch);
  const Device& device = builder.rank().devices[0];
  KernelCounter counter;
  counter.Add(builder.rank(), device, {{0, 1}},
              MeasureKernelWork(builder.rank(), device, LibraryCalls(builder.rank()), {{0, 1}}));
  const auto findings = FindInKernels(builder.rank(), device, counter.Finish(), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(*findings[0].above_ideal_ns, 100'000 - 2.0 * 1024 * 1024 * 1024 / 989e3 / 0.8, 1e-6);
}

TEST(KernelFindings, KernelsForOlderGpus) {
  constexpr const char* kAmpere = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn";
  constexpr const char* kTuring = "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn";
  EXPECT_EQ(Recording(9, {{kAmpere, 100}}).Names(), Names{"older_architecture"});
  EXPECT_EQ(Recording(10, {{kNvjet, 100}}).Names(), Names{"older_architecture"});
  EXPECT_EQ(Recording(8, {{kAmpere, 100}}).Names(), Names());
  EXPECT_EQ(Recording(12, {{kAmpere, 100}}).Names(), Names());
  EXPECT_EQ(Recording(8, {{kTuring, 100}}).Names(), Names{"older_architecture"});
  EXPECT_EQ(Recording(7, {{kTuring, 100}}).Names(), Names());
  EXPECT_EQ(Recording(9, {{"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(int)", 100}}).Names(),
            Names{"older_architecture"});
  EXPECT_EQ(Recording(9, {{"volta_sgemm_128x64_nt", 1}, {kNvjet, 99}}).Names(), Names())
      << "ordinary cores";
}

TEST(KernelFindings, Fp32WithoutTensorCores) {
  constexpr const char* kSgemm = "ampere_sgemm_32x32_sliced1x4_tn";
  constexpr const char* kScudnn = "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1";
  constexpr const char* kTf32 = "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4";
  EXPECT_EQ(Recording(8, {{kSgemm, 100}}).Names(), Names{"fp32_products"});
  EXPECT_EQ(Recording(9, {{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_stage3_ffma_x", 100}}).Names(),
            Names{"fp32_products"});
  EXPECT_EQ(Recording(7, {{kSgemm, 100}}).Names(), Names()) << "no TF32 before 8.0";
  EXPECT_EQ(Recording(8, {{kSgemm, 100}, {kTf32, 1}}).Names(), Names()) << "TF32 is on";
  EXPECT_EQ(Recording(8, {{kScudnn, 100}, {kTf32, 1}}).Names(), Names{"fp32_products"})
      << "of cuBLAS, not of cuDNN";
  EXPECT_EQ(Recording(8, {{kScudnn, 100}, {kTf32Convolution, 1}}).Names(), Names());
  Recording set(8, {{kSgemm, 100}});
  set.rank().facts.push_back({"env", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1", ""});
  EXPECT_EQ(set.Names(), Names());
}

TEST(KernelFindings, Fp32ThatACallAllowedInTf32IsNoFinding) {
  RankBuilder builder;
  builder.rank().devices[0].cc_major = 9;
  GemmShape shape;
  shape.m = shape.n = shape.k = 64;
  shape.batch = 1;
  shape.type_a = shape.type_b = shape.type_c = 0;
  shape.compute_type = 77;
  const auto launch = builder.AddApi(10, 20, "cudaLaunchKernel");
  builder.AddGemm(0, 100, shape);
  builder.AddKernel(1000, 2000, "ampere_sgemm_128x64_nn", launch);
  const Device& device = builder.rank().devices[0];
  KernelCounter counter;
  counter.Add(builder.rank(), device, {{0, 1}},
              MeasureKernelWork(builder.rank(), device, LibraryCalls(builder.rank()), {{0, 1}}));
  EXPECT_TRUE(FindInKernels(builder.rank(), device, counter.Finish(), {}).empty());
}

TEST(KernelFindings, AttentionInSeparateKernels) {
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kSoftmax, 10}}).WithBatchedProducts().Names(),
            Names{"unfused_attention"});
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kSoftmax, 10}}).Names(), Names()) << "of a router, maybe";
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kLogSoftmax, 10}}).WithBatchedProducts().Names(), Names())
      << "of the loss";
  EXPECT_EQ(Recording(9, {{"flash_fwd_kernel", 90}, {kSoftmax, 10}}).WithBatchedProducts().Names(),
            Names());
  constexpr const char* kLoss =
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
      "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)";
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kLoss, 10}}).WithBatchedProducts().Names(), Names());
}

TEST(KernelFindings, ChangesOfLayout) {
  EXPECT_EQ(Recording(8, {{kTf32Convolution, 90}, {kToNhwcKernel, 10}}).Names(),
            Names{"layout_changes"});
  EXPECT_EQ(Recording(8, {{kTf32Convolution, 97}, {kToNhwcKernel, 3}}).Names(), Names())
      << "below 5 %";
}

TEST(KernelFindings, Optimizers) {
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kForeach, 10}}).Names(), Names{"foreach_optimizer"});
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kAddcdiv, 10}}).Names(), Names{"single_optimizer"});
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kFused, 10}}).Names(), Names());
  EXPECT_EQ(Recording(9, {{kNvjet, 90}, {kSgd, 10}}).Names(), Names()) << "one pass already";
  EXPECT_EQ(Recording(9, {{kNvjet, 80}, {kFused, 10}, {kForeach, 10}}).Names(), Names())
      << "of something else: the optimizer is fused";
}

TEST(KernelFindings, TheLargestShareComesFirst) {
  EXPECT_EQ(Recording(8, {{kTf32Convolution, 50}, {kToNhwcKernel, 10}, {kAddcdiv, 40}}).Names(),
            (Names{"single_optimizer", "layout_changes"}));
}

TEST(KernelFindings, OfSeveralDevicesAddUp) {
  const auto one = Recording(8, {{"ampere_sgemm_64x64_nn", 100}}).Find();
  const auto two = Recording(8, {{"ampere_sgemm_128x64_nn", 300}}).Find();
  const auto sum = MergeFindings({one, {}, two}, 1000);
  ASSERT_EQ(sum.size(), 1U);
  EXPECT_EQ(sum[0].total_ns, 400);
  EXPECT_EQ(sum[0].kernels, 2);
  EXPECT_DOUBLE_EQ(sum[0].share, 0.4);
  EXPECT_EQ(sum[0].example, "ampere_sgemm_128x64_nn");
}

}  // namespace
}  // namespace traceinject
