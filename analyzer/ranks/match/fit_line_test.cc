// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/fit_line.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

TEST(FitLineTest, PointsThatAreFarOffDoNotCount) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 1000);
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i * 1e7);
    y.push_back(5e8 + 40e-6 * x.back() + noise(random));
    if (i % 5 == 0) y.back() += 1e6 * (i % 7);
  }
  const Line line = FitLine(x, y, 50e-6, 1);
  EXPECT_NEAR(line.slope, 40e-6, 1e-7);
  EXPECT_NEAR(line.At(0), 5e8, 200);
  EXPECT_NEAR(line.spread, 1000, 400);
  EXPECT_LT(line.SigmaAt(0), 200);
  EXPECT_GT(line.SigmaAt(-1e10), line.SigmaAt(0));
  EXPECT_NEAR(static_cast<double>(line.points), 830, 30);
}

TEST(FitLineTest, ClosePointsSayNothingOfTheSlope) {
  const Line line = FitLine({0, 1000}, {0, 800}, 50e-6, 1000);
  EXPECT_NEAR(line.slope, 0, 1e-6);
  EXPECT_NEAR(line.y0, 400, 1);
  EXPECT_EQ(FitLine({7}, {3}, 50e-6, 1000).At(7), 3);
}

TEST(FitLineTest, ABendIsSeen) {
  std::vector<double> x, straight, bent;
  for (int i = 0; i < 800; ++i) {
    x.push_back(i * 1e7);
    straight.push_back(1000 + (i % 2));
    bent.push_back(i < 400 ? 0 : 100e-6 * (i - 400) * 1e7);
  }
  EXPECT_LT(BendOf(x, straight, FitLine(x, straight, 50e-6, 1)), 2);
  EXPECT_GT(BendOf(x, bent, FitLine(x, bent, 50e-6, 1)), 20'000);
}

}  // namespace
}  // namespace traceinject
