// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/steps.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// A kernel in each of the steps, launched 100 into it; it runs 1000 after its launch, so the device
// lags behind the host.
RankBuilder Training(const std::vector<TimeNs>& lengths) {
  RankBuilder builder;
  TimeNs t = 0;
  for (const TimeNs length : lengths) {
    const std::uint32_t call = builder.AddApi(t + 100, t + 110, "cudaLaunchKernel");
    builder.AddKernel(t + 1100, t + 1100 + 500, kGemm, call);
    t += length;
  }
  return builder;
}

Interval All(const RankBuilder& builder) {
  const GpuOps& ops = const_cast<RankBuilder&>(builder).ops();
  return {ops.start.front(), ops.end.back()};
}

TEST(StepsTest, MarksCutWhereTheWorkLaunchedBeforeThemEnds) {
  RankBuilder builder = Training({10'000, 10'000, 10'000, 10'000, 10'000});
  for (int i = 1; i <= 5; ++i) builder.AddStepMark(i * 10'000 - 50);
  const Steps found = FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  EXPECT_EQ(found.source, StepSource::kMarks);
  ASSERT_EQ(found.steps.size(), 4U);
  EXPECT_EQ(found.start_ns, 1'600);
  EXPECT_EQ(found.before, 0U);
  EXPECT_EQ(found.steps[0].time.end, 11'600);
  EXPECT_EQ(found.steps[1].time, (Interval{11'600, 21'600}));
  EXPECT_EQ(found.steps[3].last_op, 4U);
  EXPECT_EQ(found.cuts().size(), 5U);
}

TEST(StepsTest, ALongPauseBeforeTheFirstMarkIsNoPartOfTheFirstStep) {
  RankBuilder builder = Training({90'000, 10'000, 10'000, 10'000, 10'000});
  for (int i = 0; i < 5; ++i) builder.AddStepMark(90'000 + i * 10'000 - 50);
  const Steps found = FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  EXPECT_EQ(found.start_ns, 89'950);
  EXPECT_EQ(found.before, kNone);
  EXPECT_EQ(found.steps.size(), 4U);
}

TEST(StepsTest, OneMarkOfTheFirstOptimizerIsAStep) {
  RankBuilder builder = Training({10'000, 10'000, 10'000, 10'000, 10'000});
  for (int i = 1; i <= 5; ++i) {
    builder.AddStepMark(i * 10'000 - 60, 3);
    builder.AddStepMark(i * 10'000 - 50, 7);
  }
  EXPECT_EQ(FindSteps(builder.rank(), builder.rank().devices[0], All(builder)).steps.size(), 4U);
}

TEST(StepsTest, AnOptimizerUsedOnlyAtTheBeginningDoesNotCount) {
  RankBuilder builder = Training(std::vector<TimeNs>(20, 10'000));
  for (int i = 1; i <= 20; ++i) {
    if (i <= 5) builder.AddStepMark(i * 10'000 - 60, 1);
    builder.AddStepMark(i * 10'000 - 50, 2);
  }
  EXPECT_EQ(FindSteps(builder.rank(), builder.rank().devices[0], All(builder)).steps.size(), 19U);
}

TEST(StepsTest, RangesLastUntilTheNextOneBegins) {
  RankBuilder builder = Training({10'000, 10'000, 10'000, 10'000});
  for (int i = 0; i < 4; ++i)
    builder.AddRange({i * 10'000 + 50, i * 10'000 + 2'000, "ProfilerStep#" + std::to_string(i)});
  const Steps found = FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  EXPECT_EQ(found.source, StepSource::kRanges);
  EXPECT_EQ(found.pattern, "ProfilerStep#N");
  ASSERT_EQ(found.steps.size(), 4U);
  EXPECT_EQ(found.steps[1].length_ns(), 10'000);
}

TEST(StepsTest, MarksComeBeforeRanges) {
  RankBuilder builder = Training(std::vector<TimeNs>(6, 10'000));
  for (int i = 0; i < 6; ++i) {
    builder.AddRange({i * 10'000 + 50, i * 10'000 + 2'000, "step " + std::to_string(i)});
    builder.AddStepMark((i + 1) * 10'000 - 50);
  }
  EXPECT_EQ(FindSteps(builder.rank(), builder.rank().devices[0], All(builder)).source,
            StepSource::kMarks);
}

TEST(StepsTest, FewerThanThreeAreTheWholeWindow) {
  RankBuilder builder = Training({10'000, 10'000});
  builder.AddStepMark(9'950);
  builder.AddStepMark(19'950);
  const Steps found = FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  EXPECT_EQ(found.source, StepSource::kWindow);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps[0].time, All(builder));
  EXPECT_EQ(found.steps[0].last_op, 1U);
}

TEST(StepsTest, OneOrTwoMarkedStepsAreTheSteps) {
  RankBuilder builder = Training({10'000, 10'000});
  const auto find = [&] {
    return FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  };
  builder.AddRange({0, 9'000, "ProfilerStep#7"});
  Steps found = find();
  EXPECT_EQ(found.source, StepSource::kRanges);
  EXPECT_TRUE(found.few());
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.start_ns, 0) << "the host began before the first operation";
  EXPECT_EQ(found.steps[0].last_op, 0U);
  builder.AddRange({9'900, 19'000, "ProfilerStep#8"});
  found = find();
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_TRUE(found.few());
  EXPECT_EQ(found.count_regular(), 2U);
}

// One of many is not told by its name to be all.
TEST(StepsTest, OneNamedStepAmongOthersIsNotTheSteps) {
  RankBuilder builder = Training(std::vector<TimeNs>(20, 10'000));
  builder.AddRange({40'000, 49'000, "slow step 4"});
  EXPECT_NE(FindSteps(builder.rank(), builder.rank().devices[0], All(builder)).source,
            StepSource::kRanges);
}

TEST(StepsTest, WarmUpAndIrregularStepsAreTold) {
  std::vector<TimeNs> lengths(20, 10'000);
  lengths[0] = 50'000;  // the first mark comes long after its work, so the first step is cut short
  lengths[12] = 30'000;
  RankBuilder builder = Training(lengths);
  TimeNs t = 0;
  for (const TimeNs length : lengths) builder.AddStepMark((t += length) - 50);
  const Steps found = FindSteps(builder.rank(), builder.rank().devices[0], All(builder));
  EXPECT_EQ(found.median_ns, 10'000);
  EXPECT_EQ(found.mad_ns, 0);
  EXPECT_EQ(found.count(&Step::warm_up), 1U);
  EXPECT_EQ(found.count(&Step::irregular), 1U);
}

TEST(StepsTest, APartOfARunDoesNotBeginWithAWarmUp) {
  std::vector<TimeNs> lengths(20, 10'000);
  lengths[0] = 50'000;
  RankBuilder builder = Training(lengths);
  TimeNs t = 0;
  for (const TimeNs length : lengths) builder.AddStepMark((t += length) - 50);
  Rank& rank = builder.rank();
  EXPECT_EQ(FindSteps(rank, rank.devices[0], All(builder)).count(&Step::warm_up), 1U);
  rank.gaps = {{0, 900, "window"}};
  EXPECT_EQ(FindSteps(rank, rank.devices[0], All(builder)).count(&Step::warm_up), 0U);
  rank.gaps.clear();
  rank.kept_from = 0;
  const Steps found = FindSteps(rank, rank.devices[0], All(builder));
  EXPECT_EQ(found.count(&Step::warm_up), 0U);
  EXPECT_EQ(found.count(&Step::irregular), 1U);
}

TEST(StepsTest, StepsThatAWindowOfTheRecordingCutsAreNone) {
  RankBuilder builder = Training(std::vector<TimeNs>(10, 10'000));
  for (int i = 1; i <= 10; ++i) builder.AddStepMark(i * 10'000 - 50);
  Rank& rank = builder.rank();
  rank.devices[0].ops.planned_gaps = {{0, 23'000}, {78'000, kOpen}};
  const Steps found = FindSteps(rank, rank.devices[0], Interval{23'000, 78'000});
  ASSERT_EQ(found.steps.size(), 4U);
  EXPECT_EQ(found.start_ns, 31'600);
  EXPECT_EQ(found.steps.back().time.end, 71'600);
  EXPECT_EQ(found.first, 4U);
}

// On a GPU that is behind, the gap begins there where the last work launched before it ends.
TEST(StepsTest, StepsOfWhichOnlyAPartWasLaunchedInAWindowAreNone) {
  RankBuilder builder = Training(std::vector<TimeNs>(10, 10'000));
  for (int i = 1; i <= 10; ++i) builder.AddStepMark(i * 10'000 - 50);
  Rank& rank = builder.rank();
  rank.gaps = {{65'000, kOpen, "window"}};
  rank.devices[0].ops.planned_gaps = {{61'600, kOpen}};
  const Steps found = FindSteps(rank, rank.devices[0], Interval{0, 61'600});
  ASSERT_EQ(found.steps.size(), 5U);
  EXPECT_EQ(found.steps.back().time.end, 51'600);
}

TEST(StepsTest, APatternComesBeforeMarksAndAllowsNothingElse) {
  RankBuilder builder = Training(std::vector<TimeNs>(6, 10'000));
  for (int i = 0; i < 6; ++i) {
    builder.AddRange({i * 10'000 + 50, i * 10'000 + 2'000, "batch " + std::to_string(i)});
    builder.AddStepMark((i + 1) * 10'000 - 50);
  }
  const auto find = [&](const char* text) {
    const StepPattern pattern = StepPattern::Parse(text).value();
    return FindSteps(builder.rank(), builder.rank().devices[0], All(builder), &pattern);
  };
  EXPECT_EQ(find("batch").source, StepSource::kRanges);
  EXPECT_EQ(find("batch").pattern, "batch");
  EXPECT_EQ(find("epoch").source, StepSource::kWindow);
}

TEST(StepsTest, OnlyStepsInTheWindowCount) {
  RankBuilder builder = Training(std::vector<TimeNs>(10, 10'000));
  for (int i = 1; i <= 10; ++i) builder.AddStepMark(i * 10'000 - 50);
  const Steps found =
      FindSteps(builder.rank(), builder.rank().devices[0], Interval{21'000, 71'600});
  EXPECT_EQ(found.steps.size(), 5U);
  EXPECT_EQ(found.start_ns, 21'600);
  EXPECT_EQ(found.first, 3U);
}

}  // namespace
}  // namespace traceinject
