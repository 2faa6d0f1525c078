// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/median_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace traceinject {
namespace {

// 60 steps of 100 with the tail of real ones, of which each has a part of the one before.
std::vector<double> Steps(std::mt19937_64& random, double kept) {
  std::vector<double> steps;
  double state = 0;
  for (int i = 0; i < 60; ++i) {
    const double chance = static_cast<double>(random() >> 11) * 0x1p-53;
    const double off = -std::log(1 - chance) - std::log(2);  // of median 0
    state = i == 0 ? off : kept * state + (1 - kept) * off;
    steps.push_back(100 + state);
  }
  return steps;
}

TEST(MedianIntervalTest, HoldsTheMedian) {
  std::mt19937_64 random(1);
  int held = 0;
  for (int i = 0; i < 400; ++i) {
    const MedianOfSteps found = MedianWithInterval(Steps(random, 0));
    ASSERT_TRUE(found.interval);
    held += found.interval->low <= 100 && found.interval->high >= 100;
  }
  EXPECT_GE(held, 372) << "93 % of 400";
}

TEST(MedianIntervalTest, IsWiderWhereNeighborsAreAlike) {
  std::mt19937_64 random(1);
  const auto share = [&](double kept) {
    std::vector<double> steps = Steps(random, kept);
    double least = steps[0], most = steps[0];
    for (const double step : steps) {
      least = std::min(least, step);
      most = std::max(most, step);
    }
    const MedianOfSteps found = MedianWithInterval(steps);
    return (found.interval->high - found.interval->low) / (most - least);
  };
  double alone = 0, alike = 0;
  for (int i = 0; i < 50; ++i) {
    alone += share(0);
    alike += share(0.8);
  }
  EXPECT_GT(alike, 1.5 * alone);
}

TEST(MedianIntervalTest, OfFewValues) {
  EXPECT_EQ(MedianWithInterval({}).median, 0);
  EXPECT_EQ(MedianWithInterval({5}).median, 5);
  EXPECT_EQ(MedianWithInterval({5, 7}).median, 6);
  EXPECT_FALSE(MedianWithInterval({5, 7}).interval);
  const MedianOfSteps three = MedianWithInterval({9, 5, 7});
  EXPECT_EQ(three.median, 7);
  ASSERT_TRUE(three.interval);
  EXPECT_EQ(three.interval->low, 5);
  EXPECT_EQ(three.interval->high, 9);
}

}  // namespace
}  // namespace traceinject
