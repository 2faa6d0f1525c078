// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tried_savings.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

using Runs = std::vector<std::vector<double>>;

// Runs differ from each other, and steps within them.
Runs MakeRuns(int count, double mean, double of_runs, double of_steps, std::mt19937& random) {
  Runs runs;
  for (int run = 0; run < count; ++run) {
    const double middle = mean + of_runs * std::normal_distribution<>()(random);
    std::normal_distribution<> step(middle, of_steps);
    runs.emplace_back();
    for (int i = 0; i < 40; ++i) runs.back().push_back(step(random));
  }
  return runs;
}

int CoveredOf1000(int runs, double of_runs) {
  int covered = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const TriedSaving saving =
        SavingOf(MakeRuns(runs, 72, of_runs, 1, random), MakeRuns(runs, 30, of_runs, 1, random));
    covered += saving.interval && saving.interval->low <= 42 && saving.interval->high >= 42;
  }
  return covered;
}

TEST(TriedSavingTest, IntervalsHoldTheTruthAlsoWhereRunsDiffer) {
  EXPECT_GE(CoveredOf1000(3, 0), 940);
  EXPECT_GE(CoveredOf1000(3, 2), 930);
  EXPECT_GE(CoveredOf1000(2, 2), 930);
}

TEST(TriedSavingTest, ASingleRunOfEachTellsOnlyOfItsSteps) {
  EXPECT_GE(CoveredOf1000(1, 0), 940);
  EXPECT_LT(CoveredOf1000(1, 2), 500) << "which is why it is said";
}

TEST(TriedSavingTest, SlowerIsLessThanNothing) {
  const TriedSaving saving = SavingOf({{10, 10, 10}}, {{12, 12, 12}});
  EXPECT_DOUBLE_EQ(saving.saved_ns, -2);
  ASSERT_TRUE(saving.interval);
  EXPECT_DOUBLE_EQ(saving.interval->low, -2);
}

}  // namespace
}  // namespace traceinject
