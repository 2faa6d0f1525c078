// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace traceinject {
namespace {

TEST(LeastSquaresTest, FindsWhatTheRowsWereMadeOf) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(0, 1);
  std::normal_distribution<double> noise(0, 0.01);
  const std::vector<double> truth = {0.9, 0.2, 0.5};
  LeastSquares squares(3, 2);
  for (int i = 0; i < 500; ++i) {
    const std::vector<double> row = {share(random), share(random), share(random)};
    double value = noise(random);
    for (std::size_t j = 0; j < row.size(); ++j) value += row[j] * truth[j];
    squares.Add(row, {0, 1, 2}, {value, 2 * value});
  }
  const LeastSquares::Solution solution = squares.Solve();
  for (std::size_t j = 0; j < truth.size(); ++j) {
    EXPECT_NEAR(solution.value(j, 0), truth[j], 4 * solution.error(j, 0));
    EXPECT_NEAR(solution.value(j, 1), 2 * truth[j], 4 * solution.error(j, 1));
    EXPECT_LT(solution.error(j, 0), 0.01);
    EXPECT_GT(solution.error(j, 0), 0.0001) << "of the noise";
  }
}

TEST(LeastSquaresTest, WhatAlwaysStandsTogetherHasALargeError) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(0, 1);
  std::normal_distribution<double> noise(0, 0.01);
  LeastSquares squares(3, 1);
  for (int i = 0; i < 200; ++i) {
    const double together = share(random), alone = share(random);
    squares.Add({together, together, alone}, {0, 1, 2}, {together + 0.3 * alone + noise(random)});
  }
  const LeastSquares::Solution solution = squares.Solve();
  EXPECT_GT(solution.error(0, 0), 1);
  EXPECT_GT(solution.error(1, 0), 1);
  EXPECT_NEAR(solution.value(0, 0) + solution.value(1, 0), 1, 0.02);
  EXPECT_LT(solution.error({1, 1, 0}, 0), 0.01) << "their sum is known";
  EXPECT_NEAR(solution.error({0, 0, 1}, 0), solution.error(2, 0), 1e-9);
  EXPECT_NEAR(solution.value(2, 0), 0.3, 0.02);
  EXPECT_LT(solution.error(2, 0), 0.01);
}

TEST(LeastSquaresTest, TooFewRowsSayNothing) {
  LeastSquares squares(2, 1);
  squares.Add({1, 0}, {0}, {0.5});
  EXPECT_TRUE(std::isinf(squares.Solve().error(0, 0)));
  EXPECT_TRUE(std::isinf(LeastSquares(2, 1).Solve().error(1, 0)));
}

}  // namespace
}  // namespace traceinject
