// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/kernels.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(KernelsTest, SumsByNameAndClass) {
  RankBuilder builder;
  builder.AddKernel(0, 10, "ampere_sgemm_128x64_nn", kNone, 0, 4);
  builder.AddKernel(10, 40, "ampere_sgemm_128x64_nn", kNone, 0, 8);
  builder.AddKernel(40, 60, "ampere_sgemm_128x64_nn", kNone, 0, 8);
  builder.AddKernel(60, 65, "mystery");
  builder.AddCopy(65, 100, {.bytes = 1, .kind = 1});
  KernelCounter counter;
  counter.Add(builder.rank(), builder.rank().devices[0], {{0, 5}});
  const KernelTable table = counter.Finish();
  EXPECT_EQ(table.count, 4);
  EXPECT_EQ(table.total_ns, 65);
  EXPECT_EQ(table.unclassified_ns, 5);
  ASSERT_EQ(table.kernels.size(), 2u);
  const KernelStats& gemm = table.kernels[0];
  EXPECT_EQ(gemm.name, "ampere_sgemm_128x64_nn");
  EXPECT_EQ(gemm.kernel_class, KernelClass::kGemm);
  EXPECT_EQ(gemm.count, 3);
  EXPECT_EQ(gemm.total_ns, 60);
  EXPECT_EQ(gemm.min_ns, 10);
  EXPECT_EQ(gemm.max_ns, 30);
  EXPECT_EQ(gemm.shape.grid[0], 8);
  EXPECT_EQ(gemm.shape_count, 2);
  ASSERT_EQ(table.classes.size(), 2u);
  EXPECT_EQ(table.classes[0].kernel_class, KernelClass::kGemm);
  EXPECT_EQ(table.classes[1].kernel_class, KernelClass::kOther);
}

TEST(KernelsTest, UnclassifiedIsListedEvenIfThereIsNone) {
  RankBuilder builder;
  builder.AddKernel(0, 10, "ampere_sgemm_128x64_nn");
  KernelCounter counter;
  counter.Add(builder.rank(), builder.rank().devices[0], {{0, 1}});
  const KernelTable table = counter.Finish();
  ASSERT_EQ(table.classes.size(), 2u);
  EXPECT_EQ(table.classes[1].kernel_class, KernelClass::kOther);
  EXPECT_EQ(table.classes[1].count, 0);
}

TEST(KernelsTest, ProcessesAddUpByName) {
  RankBuilder a, b;
  a.AddKernel(0, 10, "x");
  a.AddKernel(20, 50, "y", kNone, 0, 2);
  b.AddKernel(0, 5, "y", kNone, 0, 2);
  b.AddKernel(5, 10, "y", kNone, 0, 3);
  KernelCounter counter;
  counter.Add(a.rank(), a.rank().devices[0], {{0, 2}});
  counter.Add(b.rank(), b.rank().devices[0], {{0, 2}});
  const KernelTable table = counter.Finish();
  ASSERT_EQ(table.kernels.size(), 2u);
  EXPECT_EQ(table.kernels[0].name, "y");
  EXPECT_EQ(table.kernels[0].count, 3);
  EXPECT_EQ(table.kernels[0].total_ns, 40);
  EXPECT_EQ(table.kernels[0].min_ns, 5);
  EXPECT_EQ(table.kernels[0].shape.grid[0], 2);
  EXPECT_EQ(table.kernels[0].shape_count, 2);
}

TEST(KernelsTest, OnlyTheRangeCounts) {
  RankBuilder builder;
  builder.AddKernel(0, 10, "x");
  builder.AddKernel(20, 50, "x");
  KernelCounter counter;
  counter.Add(builder.rank(), builder.rank().devices[0], {{1, 2}});
  EXPECT_EQ(counter.Finish().total_ns, 30);
  EXPECT_EQ(KernelCounter().Finish().count, 0);
}

}  // namespace
}  // namespace traceinject
