// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/mean_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace traceinject {
namespace {

// Values around 100 whose neighbors resemble each other: an autoregressive process.
std::vector<double> Series(std::size_t count, double correlation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<double> values;
  double state = noise(random) / std::sqrt(1 - correlation * correlation);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(100 + state);
    state = correlation * state + noise(random);
  }
  return values;
}

// Of 1000 pairs without a difference, those in which one is seen.
int FalseAlarms(std::size_t count, double correlation) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto difference = DifferenceOfMeans(Series(count, correlation, 2 * seed + 1),
                                              Series(count, correlation, 2 * seed + 2));
    if (difference.certain()) ++alarms;
  }
  return alarms;
}

TEST(MeanDifferenceTest, FalseAlarmsAreAsRareAsPromised) {
  EXPECT_LE(FalseAlarms(60, 0), 50);
  EXPECT_LE(FalseAlarms(200, 0.5), 50);
}

// Few steps cannot tell how far a correlation reaches, but blocks keep most of it.
TEST(MeanDifferenceTest, NeighborsThatResembleEachOther) {
  EXPECT_LE(FalseAlarms(60, 0.5), 80);
  EXPECT_LE(FalseAlarms(60, 0.8), 200);
}

TEST(MeanDifferenceTest, OneSlowSpellIsNoDifference) {
  std::vector<double> before = Series(60, 0, 1), after = Series(60, 0, 2);
  for (std::size_t i = 20; i < 30; ++i) after[i] += 30;
  const MeanDifference difference = DifferenceOfMeans(before, after);
  EXPECT_NEAR(difference.change(), 5, 1);
  EXPECT_FALSE(difference.certain());
  EXPECT_EQ(difference.block, 8U);
}

TEST(MeanDifferenceTest, ADifferenceIsSeenAndItsSizeHeld) {
  int seen = 0, held = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> after = Series(60, 0.5, 2 * seed + 2);
    for (double& value : after) value += 2;
    const auto difference = DifferenceOfMeans(Series(60, 0.5, 2 * seed + 1), after);
    seen += difference.certain() && difference.p < 0.05 ? 1 : 0;
    held += difference.interval->low <= 2 && difference.interval->high >= 2 ? 1 : 0;
  }
  EXPECT_GE(seen, 195);
  EXPECT_GE(held, 180);
}

TEST(MeanDifferenceTest, FewOrConstantValues) {
  EXPECT_FALSE(DifferenceOfMeans({1, 2}, {3, 4, 5}).interval);
  EXPECT_DOUBLE_EQ(DifferenceOfMeans({1, 2}, {3, 4, 5}).change(), 2.5);
  EXPECT_FALSE(DifferenceOfMeans({}, {}).interval);
  const MeanDifference same = DifferenceOfMeans({7, 7, 7}, {7, 7, 7, 7});
  EXPECT_FALSE(same.certain());
  EXPECT_EQ(same.p, 1);
  const MeanDifference other = DifferenceOfMeans({7, 7, 7}, {8, 8, 8});
  EXPECT_TRUE(other.certain());
  EXPECT_EQ(other.p, 0);
}

}  // namespace
}  // namespace traceinject
