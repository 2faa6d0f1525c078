// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/step_flops.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/gemm_shapes.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Five marked steps of 10 us, each with a product and an attention call.
RankBuilder Training() {
  RankBuilder builder;
  for (TimeNs t = 0; t < 50'000; t += 10'000) {
    const auto product = builder.AddApi(t + 110, t + 120, "cudaLaunchKernel");
    const auto attention = builder.AddApi(t + 310, t + 320, "cudaLaunchKernel");
    GemmShape gemm;
    gemm.m = gemm.n = gemm.k = 10;
    gemm.batch = 1;
    builder.AddGemm(t + 100, t + 200, gemm);
    AttentionShape shape;
    shape.batch = shape.heads = shape.kv_heads = 1;
    shape.query_length = shape.key_length = 10;
    shape.head_size = shape.value_head_size = 5;
    builder.AddAttention(t + 300, t + 400, shape);
    builder.AddKernel(t + 1000, t + 2000, "ampere_sgemm_128x64_nn", product);
    builder.AddKernel(t + 2000, t + 3000, "flash_fwd_kernel", attention);
  }
  return builder;
}

std::optional<StepFlops> FlopsIn(const Rank& rank, Interval window) {
  const Device& device = rank.devices[0];
  return FlopsOfSteps(rank, device, LibraryCalls(rank), FindSteps(rank, device, window));
}

// Steps are 10 us long; `type` is that of the matrices and of attention.
std::optional<StepFlops> Find(RankBuilder& builder, int type, const char* gpu) {
  for (int i = 1; i <= 5; ++i) builder.AddStepMark(i * 10'000 - 50);
  Rank rank = builder.rank();
  rank.devices[0].name = gpu;
  for (GemmShape& shape : rank.gemm_shapes) shape.type_a = shape.type_b = type;
  for (AttentionShape& shape : rank.attention_shapes) shape.type = type;
  return FlopsIn(rank, {1000, 43'000});
}

TEST(StepFlops, ProductsAndAttentionOfAMeanStep) {
  RankBuilder builder = Training();
  const auto found = Find(builder, kBf16Type, "NVIDIA H200");
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->flops, 2.0 * 1000 + 2.0 * 100 * 10);
  EXPECT_DOUBLE_EQ(found->step_ns, 10'000);
  const double peak = *PeakTflops(*FindGpuSpec("NVIDIA H200"), PeakDtype::kBf16) * 1e12;
  ASSERT_TRUE(found->peak_share.has_value());
  EXPECT_DOUBLE_EQ(*found->peak_share, found->flops / peak / 10e-6);
}

// A validation pass does products, too, and is no step of training.
TEST(StepFlops, IrregularStepsAreLeftOut) {
  RankBuilder builder;
  TimeNs t = 0;
  for (int step = 0; step < 12; ++step) {
    for (int call = 0; call < (step == 6 ? 9 : 1); ++call, t += 10'000) {
      GemmShape gemm;
      gemm.m = gemm.n = gemm.k = 10;
      gemm.batch = 1;
      builder.AddGemm(t + 100, t + 200, gemm);
      builder.AddKernel(t + 1000, t + 2000, "gemm",
                        builder.AddApi(t + 110, t + 120, "cudaLaunchKernel"));
    }
    builder.AddStepMark(t - 50);
  }
  const Rank& rank = builder.rank();
  const auto found = FlopsIn(rank, {1000, t});
  ASSERT_TRUE(found.has_value());
  EXPECT_DOUBLE_EQ(found->flops, 2.0 * 1000);
  EXPECT_DOUBLE_EQ(found->step_ns, 10'000);
}

TEST(StepFlops, NoShareWithoutARate) {
  RankBuilder unknown_gpu = Training(), unknown_type = Training();
  const auto without_gpu = Find(unknown_gpu, kBf16Type, "Some GPU");
  const auto without_type = Find(unknown_type, 0, "NVIDIA H200");
  ASSERT_TRUE(without_gpu && without_type);
  EXPECT_FALSE(without_gpu->peak_share.has_value());
  EXPECT_NE(without_gpu->reason.find("'Some GPU'"), std::string::npos);
  EXPECT_FALSE(without_type->peak_share.has_value());
  EXPECT_NE(without_type->reason.find("TF32"), std::string::npos);
}

TEST(StepFlops, MoreThanThePeakIsRefused) {
  RankBuilder builder = Training();
  for (int i = 1; i <= 5; ++i) builder.AddStepMark(i * 10'000 - 50);
  Rank rank = builder.rank();
  rank.devices[0].name = "NVIDIA H200";
  for (GemmShape& shape : rank.gemm_shapes) {
    shape.type_a = shape.type_b = kBf16Type;
    shape.m = shape.n = shape.k = 10'000;
  }
  for (AttentionShape& shape : rank.attention_shapes) shape.type = kBf16Type;
  const auto found = FlopsIn(rank, {1000, 43'000});
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->peak_share.has_value());
  EXPECT_NE(found->reason.find("impossible"), std::string::npos);
}

TEST(StepFlops, RateOfAProduct) {
  GemmShape shape;
  shape.type_a = shape.type_b = 0;
  const auto rate = [&](int compute_type, std::string_view function) {
    shape.compute_type = compute_type;
    return PeakDtypeOf(shape, function);
  };
  EXPECT_EQ(rate(-1, "cublasSgemm_v2"), std::nullopt);
  EXPECT_EQ(rate(68, "cublasGemmEx"), std::nullopt);  // by the mode of the handle
  EXPECT_EQ(rate(68, "cublasLtMatmul"), PeakDtype::kFp32);
  EXPECT_EQ(rate(77, "cublasLtMatmul"), PeakDtype::kTf32);
  shape.type_a = 28, shape.type_b = 29;
  EXPECT_EQ(rate(68, "cublasLtMatmul"), PeakDtype::kFp8);
  shape.type_a = 14, shape.type_b = 2;
  EXPECT_EQ(rate(68, "cublasLtMatmul"), std::nullopt);
}

TEST(StepFlops, UnknownWithoutStepsOrFigures) {
  RankBuilder builder = Training();
  EXPECT_FALSE(FlopsIn(builder.rank(), {1000, 43'000}));
  RankBuilder empty;
  for (int i = 1; i <= 5; ++i) empty.AddStepMark(i * 10'000 - 50);
  EXPECT_FALSE(FlopsIn(empty.rank(), {1000, 43'000}));
}

TEST(StepFlops, SumOfDevicesNeedsAll) {
  StepFlops one;
  one.flops = 10;
  one.step_ns = 100;
  one.peak_share = 0.2;
  StepFlops other = one;
  other.peak_share = 0.4;
  const auto sum = SumOfDevices({one, other});
  ASSERT_TRUE(sum.has_value());
  EXPECT_DOUBLE_EQ(sum->flops, 20);
  EXPECT_DOUBLE_EQ(sum->step_ns, 100);
  EXPECT_DOUBLE_EQ(*sum->peak_share, 0.3);
  other.peak_share.reset();
  other.reason = "because";
  EXPECT_FALSE(SumOfDevices({one, other})->peak_share.has_value());
  EXPECT_EQ(SumOfDevices({one, other})->reason, "because");
  EXPECT_FALSE(SumOfDevices({one, std::nullopt}).has_value());
}

}  // namespace
}  // namespace traceinject
