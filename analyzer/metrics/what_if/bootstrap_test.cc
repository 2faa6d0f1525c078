// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

namespace traceinject {
namespace {

TEST(BootstrapTest, SameInputSameOutput) {
  const std::vector<double> values = {1, 5, 2, 8, 3, 9, 4};
  EXPECT_EQ(ResampledMeans(values), ResampledMeans(values));
  EXPECT_EQ(ResampledMeans(values).size(), kResamples);
  EXPECT_TRUE(ResampledMeans({}).empty());
  EXPECT_TRUE(ResampledSparseMeans({}).empty());
}

TEST(BootstrapTest, IntervalNarrowsWithTheRootOfTheCount) {
  std::vector<double> few, many;
  for (int i = 0; i < 400; ++i) {
    many.push_back(i % 2);
    if (i < 100) few.push_back(i % 2);
  }
  // Standard error 0.5 / sqrt(n), 95 % within 1.96 of them.
  const Bounds wide = Middle95(ResampledMeans(few)), narrow = Middle95(ResampledMeans(many));
  EXPECT_NEAR(wide.high - wide.low, 2 * 1.96 * 0.05, 0.02);
  EXPECT_NEAR(narrow.high - narrow.low, 2 * 1.96 * 0.025, 0.01);
  EXPECT_LT(wide.low, 0.5);
  EXPECT_GT(wide.high, 0.5);
}

TEST(BootstrapTest, ManyValuesAreDrawnInBlocks) {
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(i / 10 % 2);  // ten neighbors are alike
  const Bounds bounds = Middle95(ResampledMeans(values));
  // As uncertain as 500 values, not as 5000.
  EXPECT_NEAR(bounds.high - bounds.low, 2 * 1.96 * 0.5 / std::sqrt(500), 0.015);
  EXPECT_NEAR((bounds.high + bounds.low) / 2, 0.5, 0.01);
}

TEST(BootstrapTest, EqualValuesHaveNoSpread) {
  const Bounds bounds = Middle95(ResampledMeans({3, 3, 3, 3}));
  EXPECT_DOUBLE_EQ(bounds.low, 3);
  EXPECT_DOUBLE_EQ(bounds.high, 3);
}

TEST(BootstrapTest, APeriodIsNoMatterOfLuck) {
  std::vector<double> values(30, 0.0);
  values[5] = values[15] = values[25] = 100;
  const Bounds sparse = Middle95(ResampledSparseMeans(values));
  EXPECT_DOUBLE_EQ(sparse.low, 10);
  EXPECT_DOUBLE_EQ(sparse.high, 10);
  values[15] = 130;
  const Bounds uneven = Middle95(ResampledSparseMeans(values));
  EXPECT_DOUBLE_EQ(uneven.low, 10);
  EXPECT_DOUBLE_EQ(uneven.high, 13);
}

}  // namespace
}  // namespace traceinject
