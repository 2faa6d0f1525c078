// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/statistics/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

namespace traceinject {
namespace {

constexpr int kSeeds = 100;

struct SeriesNoise {
  double scatter = 0.03;      // of runs: standard deviation of the logarithm
  double outlier_chance = 0;  // of a run that was disturbed
  double outlier = 0.3;       // how much slower it was
  double within = 0.004;      // standard error by the steps
};

class Runs {
 public:
  Runs(const SeriesNoise& noise, int seed)
      : noise_(noise), random_(static_cast<std::uint64_t>(seed)) {}

  // `factor` times 40 ms each.
  void Add(std::size_t count, double factor = 1) {
    for (std::size_t i = 0; i < count; ++i) {
      double y = noise_.scatter * Normal() + noise_.within * Normal();
      if (Chance() < noise_.outlier_chance) y += std::log(1 + noise_.outlier);
      runs_.push_back({4e7 * factor * std::exp(y), noise_.within});
    }
  }
  const std::vector<SeriesRun>& runs() const { return runs_; }

 private:
  // Not those of the library, which differ from one to the next.
  double Chance() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Normal() {
    return std::sqrt(-2 * std::log(1 - Chance())) * std::cos(2 * std::acos(-1) * Chance());
  }

  SeriesNoise noise_;
  std::mt19937_64 random_;
  std::vector<SeriesRun> runs_;
};

// How many of kSeeds series of equal runs have a change.
int FalseAlarms(const SeriesNoise& noise, std::size_t count) {
  int alarms = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Runs runs(noise, seed);
    runs.Add(count);
    alarms += FindChangePoints(runs.runs()).points.empty() ? 0 : 1;
  }
  return alarms;
}

// In how many a change by `factor` after `before` runs is found within one run of its place, and
// nothing else is.
int Found(const SeriesNoise& noise, std::size_t before, std::size_t after, double factor) {
  int found = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Runs runs(noise, seed);
    runs.Add(before);
    runs.Add(after, factor);
    const auto points = FindChangePoints(runs.runs()).points;
    found += points.size() == 1 && points[0].first + 1 >= before && points[0].first <= before + 1;
  }
  return found;
}

int Told(const char* what, int count) {
  std::cout << what << ": " << count << " of " << kSeeds << "\n";
  return count;
}

TEST(ChangePointsTest, EqualRunsHaveNone) {
  EXPECT_LE(Told("changes in 20 equal runs, 1 % scatter", FalseAlarms({.scatter = 0.01}, 20)), 5);
  EXPECT_LE(Told("changes in 20 equal runs, 3 % scatter", FalseAlarms({}, 20)), 5);
  EXPECT_LE(Told("changes in 6 equal runs, 3 % scatter", FalseAlarms({}, 6)), 5);
  EXPECT_LE(Told("changes in 20 runs of which 5 % are disturbed",
                 FalseAlarms({.scatter = 0.01, .outlier_chance = 0.05}, 20)),
            5);
  EXPECT_LE(
      Told("changes in 20 runs of few steps", FalseAlarms({.scatter = 0.001, .within = 0.04}, 20)),
      5);
}

TEST(ChangePointsTest, TenPercentSlowerAreFoundInTheirPlace) {
  EXPECT_GE(Told("10 of 20 runs 10 % slower, 3 % scatter", Found({}, 10, 10, 1.1)), 90);
  EXPECT_GE(Told("2 of 20 runs 10 % slower, 1 % scatter", Found({.scatter = 0.01}, 18, 2, 1.1)),
            90);
  EXPECT_GE(
      Told("10 of 20 runs 10 % faster, 2 % scatter", Found({.scatter = 0.02}, 10, 10, 1 / 1.1)),
      90);
}

TEST(ChangePointsTest, LevelsAndTheirIntervals) {
  int covered = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Runs runs({.scatter = 0.01}, seed);
    runs.Add(12);
    runs.Add(12, 1.2);
    const auto points = FindChangePoints(runs.runs()).points;
    ASSERT_EQ(points.size(), 1U) << seed;
    EXPECT_NEAR(points[0].before, 4e7, 1e6);
    EXPECT_NEAR(points[0].after, 4.8e7, 1.2e6);
    covered += points[0].share.low <= 0.2 && points[0].share.high >= 0.2;
  }
  EXPECT_GE(Told("intervals that hold a change of 20 %", covered), 85);
}

TEST(ChangePointsTest, SeveralChanges) {
  Runs runs({.scatter = 0.005}, 1);
  runs.Add(8);
  runs.Add(6, 1.3);
  runs.Add(7);
  const auto points = FindChangePoints(runs.runs()).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].first, 8U);
  EXPECT_EQ(points[1].first, 14U);
  EXPECT_GT(points[0].share.low, 0);
  EXPECT_LT(points[1].share.high, 0);
}

TEST(ChangePointsTest, OneRunIsNoLevel) {
  Runs runs({.scatter = 0.005}, 1);
  runs.Add(10);
  runs.Add(1, 2);
  EXPECT_TRUE(FindChangePoints(runs.runs()).points.empty());
  runs.Add(1, 2);
  EXPECT_EQ(FindChangePoints(runs.runs()).points.size(), 1U);
}

TEST(ChangePointsTest, FewOrEqualRuns) {
  EXPECT_TRUE(FindChangePoints({}).points.empty());
  EXPECT_TRUE(FindChangePoints({{1e6, 0}}).points.empty());
  EXPECT_TRUE(FindChangePoints({{1e6, 0}, {2e6, 0}}).points.empty());
  const std::vector<SeriesRun> same(50, {1e6, 0});
  EXPECT_TRUE(FindChangePoints(same).points.empty());
  // Without any scatter, too.
  EXPECT_EQ(FindChangePoints({{1e6, 0}, {1e6, 0}, {2e6, 0}, {2e6, 0}}).points.size(), 1U);
}

TEST(ChangePointsTest, ScatterIsWhatStepsDoNotTell) {
  Runs alike({.scatter = 0.001, .within = 0.05}, 3), unlike({.scatter = 0.05, .within = 0.001}, 3);
  alike.Add(60);
  unlike.Add(60);
  EXPECT_LT(FindChangePoints(alike.runs()).scatter, 0.025);
  EXPECT_NEAR(FindChangePoints(unlike.runs()).scatter, 0.05, 0.015);
}

}  // namespace
}  // namespace traceinject
