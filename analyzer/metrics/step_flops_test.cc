// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/step_flops.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/rank_builder.h"

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

TEST(StepFlops, ProductsAndAttentionOfAMeanStep) {
  RankBuilder builder = Training();
  for (int i = 1; i <= 5; ++i) builder.AddStepMark(i * 10'000 - 50);
  const auto flops = FlopsPerStep(builder.rank(), builder.rank().devices[0], {1000, 43'000});
  ASSERT_TRUE(flops.has_value());
  EXPECT_DOUBLE_EQ(*flops, 2.0 * 1000 + 2.0 * 100 * 10);
}

TEST(StepFlops, UnknownWithoutStepsOrFigures) {
  RankBuilder builder = Training();
  EXPECT_FALSE(FlopsPerStep(builder.rank(), builder.rank().devices[0], {1000, 43'000}).has_value());
  RankBuilder empty;
  for (int i = 1; i <= 5; ++i) empty.AddStepMark(i * 10'000 - 50);
  EXPECT_FALSE(FlopsPerStep(empty.rank(), empty.rank().devices[0], {1000, 43'000}).has_value());
}

}  // namespace
}  // namespace traceinject
