// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tried_run.h"

#include <gtest/gtest.h>

#include "analyzer/verdict/testing/simulated_ranks.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

// Of 23 steps each third, from the first on, takes 20 ms longer: 8 of all, 4 of the last 13.
Run RunWithLongSteps() { return RunOfRanks({{.more_ns = 20'000'000, .every = 3}}); }

TEST(TriedRunTest, TheVerdictIsOnTheMeasuredSteps) {
  const Result<TriedRun> tried = MeasureTry(RunWithLongSteps(), 10);
  ASSERT_TRUE(tried.ok()) << tried.error();
  EXPECT_EQ(tried.value().steps_ns.size(), 13u);
  const auto judged_ns = static_cast<double>(tried.value().report.verdict().step_ns());
  EXPECT_NEAR(tried.value().mean_ns(), judged_ns, 0.002 * judged_ns);
  EXPECT_EQ(tried.value().report.steps(0).first(), 11);
}

TEST(TriedRunTest, TellsWhenThereAreNotEnoughSteps) {
  EXPECT_TRUE(Says(MeasureTry(RunWithLongSteps(), 21).error(), "2 steps after 21 of warm-up"));
  EXPECT_TRUE(Says(MeasureTry(RunWithLongSteps(), 30).error(), "0 steps after 30 of warm-up"));
}

}  // namespace
}  // namespace traceinject
