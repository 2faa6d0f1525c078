// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/background_report.h"

#include <gtest/gtest.h>

#include "viewer/core/testing/sample_run.h"
#include "viewer/core/testing/slow_rank.h"

namespace traceinject {
namespace {

RunReport ReportNow(std::shared_ptr<const LoadedRun> loaded) {
  const std::atomic<bool> cancelled = false;
  return ReportOn({std::move(loaded), 1}, cancelled).value_or(RunReport());
}

TEST(BackgroundReport, HasTheStepsOfTheRankThatTheVerdictNames) {
  const RunReport report = ReportNow(LoadSlowRank());
  EXPECT_EQ(report.report.verdict().label(), "straggler");
  ASSERT_TRUE(report.guilty.has_value());
  EXPECT_EQ(report.guilty->rank, 1U);
  EXPECT_TRUE(report.guilty->steps.judged);
  const Interval time = report.guilty->steps.time;
  EXPECT_EQ(time.end - time.start, 3 * kSlowRankStepNs);
}

TEST(BackgroundReport, HasNoStepsOfARunWithoutThemOrWithoutAVerdict) {
  EXPECT_FALSE(ReportNow(LoadSampleRun()).guilty.has_value()) << "no steps";
  const RunReport report = ReportNow(LoadRunOfTwoRanks());
  EXPECT_EQ(report.report.verdict().label(), "inconclusive");
  EXPECT_FALSE(report.guilty.has_value());
}

TEST(BackgroundReport, IsGivenUpWhenItIsCancelled) {
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(ReportOn({LoadSampleRun(), 1}, cancelled).has_value());
}

}  // namespace
}  // namespace traceinject
