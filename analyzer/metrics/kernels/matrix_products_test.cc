// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/matrix_products.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

GemmShape Shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1,
                int type = 14) {
  GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batch = batch;
  shape.type_a = shape.type_b = shape.type_c = type;
  return shape;
}

MatrixProducts CountProducts(RankBuilder& builder) {
  const Device& device = builder.rank().devices[0];
  return CountMatrixProducts(builder.rank(), device, LibraryCalls(builder.rank()),
                             {{0, device.ops.size()}}, {{0, 1'000'000}});
}

TEST(MatrixProducts, FlopsOfAShape) {
  EXPECT_DOUBLE_EQ(FlopsOf(Shape(100, 200, 300)), 2.0 * 100 * 200 * 300);
  EXPECT_DOUBLE_EQ(FlopsOf(Shape(10, 20, 30, 7)), 2.0 * 10 * 20 * 30 * 7);
  EXPECT_DOUBLE_EQ(FlopsOf(Shape(10, 20, 30, 1, 4)), 8.0 * 10 * 20 * 30) << "complex";
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_DOUBLE_EQ(FlopsOf(Shape(large, large, large)), 2.0 * std::pow(2.0, 120));
}

TEST(MatrixProducts, BytesOfAShapeAreThoseOfItsMatrices) {
  EXPECT_DOUBLE_EQ(*LeastBytesOf(Shape(10, 20, 30)), 2.0 * (10 * 30 + 30 * 20 + 10 * 20));
  GemmShape fp8 = Shape(10, 20, 30, 7, 28);
  fp8.type_c = 14;
  EXPECT_DOUBLE_EQ(*LeastBytesOf(fp8), 7.0 * (10 * 30 + 30 * 20 + 2 * 10 * 20));
  fp8.type_c = -1;
  EXPECT_FALSE(LeastBytesOf(fp8));
}

TEST(MatrixProducts, BytesOfAConvolutionAreThoseOfItsTensors) {
  GemmShape convolution = Shape(10, 20, 30);
  convolution.least_bytes = 77;
  EXPECT_DOUBLE_EQ(*LeastBytesOf(convolution), 77);
  convolution.least_bytes = 0;
  EXPECT_TRUE(convolution.is_convolution());
  EXPECT_FALSE(LeastBytesOf(convolution)) << "not known";
}

TEST(MatrixProducts, TypesAreNamed) {
  EXPECT_EQ(MatrixTypes(Shape(1, 1, 1)), "bf16");
  GemmShape mixed = Shape(1, 1, 1, 1, 28);
  mixed.type_b = 29;
  mixed.type_c = 99;
  EXPECT_EQ(MatrixTypes(mixed), "fp8 e4m3 x fp8 e5m2 = type 99");
  EXPECT_EQ(MatrixTypes(Shape(1, 1, 1, 1, -1)), "unknown");
}

TEST(MatrixProducts, KernelsOfACallAreThoseItsThreadLaunchedMeanwhile) {
  RankBuilder builder;
  const auto before = builder.AddApi(80, 90, "cudaLaunchKernel");
  const auto first = builder.AddApi(110, 120, "cudaLaunchKernel");
  const auto other_thread = builder.AddApi(115, 125, "cudaLaunchKernel", 1);
  const auto second = builder.AddApi(130, 140, "cudaLaunchKernel");
  const auto after = builder.AddApi(200, 210, "cudaLaunchKernel");
  builder.AddGemm(100, 200, Shape(64, 64, 64));
  builder.AddKernel(1000, 1001, "before", before);
  builder.AddKernel(1010, 1020, "split", first);
  builder.AddKernel(1020, 1050, "another thread's", other_thread);
  builder.AddKernel(1050, 1055, "sum", second);
  builder.AddKernel(1060, 1070, "after", after);
  const MatrixProducts found = CountProducts(builder);
  EXPECT_EQ(found.calls, 1);
  EXPECT_EQ(found.linked_calls, 1);
  EXPECT_EQ(found.kernel_ns, 15);
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].function, "cublasGemmEx");
  EXPECT_EQ(found.rows[0].kernels, 2);
  EXPECT_DOUBLE_EQ(found.rows[0].flops, 2.0 * 64 * 64 * 64);
}

TEST(MatrixProducts, AGroupedCallIsSeveralProductsWithTheKernelsOfOne) {
  RankBuilder builder;
  const auto launch = builder.AddApi(110, 120, "cudaLaunchKernel");
  builder.AddGemm(100, 200, Shape(10, 10, 10));
  builder.AddGemm(100, 200, Shape(99, 99, 99), 1);  // another thread's, at the same time
  builder.AddGemm(100, 200, Shape(20, 20, 20, 3));
  builder.AddKernel(300, 340, "grouped", launch);
  const MatrixProducts found = CountProducts(builder);
  EXPECT_EQ(found.calls, 3);
  EXPECT_EQ(found.linked_calls, 2);
  EXPECT_EQ(found.kernel_ns, 40);
  EXPECT_DOUBLE_EQ(found.flops, 2.0 * 1000 + 2.0 * 8000 * 3);
}

TEST(MatrixProducts, CallsWithoutKernelsCountOnce) {
  RankBuilder builder;
  const std::size_t second = builder.AddDevice("NVIDIA H200");
  const auto launch = builder.AddApi(110, 120, "cudaLaunchKernel");
  builder.AddGemm(100, 200, Shape(8, 8, 8));
  builder.AddGemm(300, 310, Shape(8, 8, 8));
  builder.AddGemm(2'000'000, 2'000'010, Shape(8, 8, 8));  // after the window
  builder.AddKernel(300, 340, "norm");
  builder.AddKernel(300, 340, "gemm", launch, second);
  EXPECT_EQ(CountProducts(builder).calls, 1);
  EXPECT_EQ(CountProducts(builder).linked_calls, 0);
  const Device& other = builder.rank().devices[second];
  const MatrixProducts on_other =
      CountMatrixProducts(builder.rank(), other, LibraryCalls(builder.rank()),
                          {{0, other.ops.size()}}, {{0, 1'000'000}});
  EXPECT_EQ(on_other.calls, 1);
  EXPECT_EQ(on_other.linked_calls, 1);
}

TEST(MatrixProducts, AreAddedUpByShape) {
  std::vector<MatrixProducts> parts;
  for (int rank = 0; rank < 2; ++rank) {
    RankBuilder builder;
    if (rank == 1) builder.AddRange({0, 1, "another string comes first"});
    const auto a = builder.AddApi(110, 120, "cudaLaunchKernel");
    const auto b = builder.AddApi(310, 320, "cudaLaunchKernel");
    builder.AddGemm(100, 200, Shape(8, 8, 8));
    builder.AddGemm(300, 400, Shape(8, 8, 16));
    builder.AddKernel(500, 510, "a", a);
    builder.AddKernel(600, 630, "b", b);
    parts.push_back(CountProducts(builder));
  }
  const MatrixProducts sum = MergeMatrixProducts(parts);
  EXPECT_EQ(sum.calls, 4);
  ASSERT_EQ(sum.rows.size(), 2U);
  EXPECT_EQ(sum.rows[0].shape.k, 16) << "by time";
  EXPECT_EQ(sum.rows[0].kernel_ns, 60);
  EXPECT_EQ(sum.rows[1].calls, 2);
}

}  // namespace
}  // namespace traceinject
