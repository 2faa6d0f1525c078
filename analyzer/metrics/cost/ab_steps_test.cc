// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/cost/ab_steps.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Blocks of `steps` steps, recorded first, then not, and so on. `length(step, recorded)`.
template <typename Length>
Rank Alternating(int blocks, int steps, Length length) {
  RankBuilder builder;
  TimeNs now = 0;
  int step = 0;
  builder.AddStepMark(now);
  for (int block = 0; block < blocks; ++block) {
    const bool recorded = block % 2 == 0;
    const TimeNs begin = now + kMs;  // within a step
    for (int i = 0; i < steps; ++i) builder.AddStepMark(now += length(step++, recorded));
    if (!recorded) builder.rank().gaps.push_back({begin, now + kMs, "window"});
  }
  return builder.rank();
}

TEST(AbStepsTest, FindsWhatRecordingAdds) {
  const Rank rank = Alternating(13, 12, [](int step, bool recorded) {
    return (recorded ? 105 : 100) * kMs + step * 7919 % 13 * kMs / 10;
  });
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->blocks, 5) << "the first recorded block does not count";
  EXPECT_LT(found->low_ns, 5.0 * kMs);
  EXPECT_GT(found->high_ns, 5.0 * kMs);
  EXPECT_GT(found->low_ns, 3.0 * kMs);
  EXPECT_NEAR(found->recorded_ns - found->unrecorded_ns, 5.0 * kMs, 1.0 * kMs);
}

// A long run: what looks at all gaps for each step takes minutes.
TEST(AbStepsTest, ManyBlocks) {
  const Rank rank =
      Alternating(160'000, 12, [](int, bool recorded) { return (recorded ? 11 : 10) * kMs; });
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_GT(found->blocks, 79'000);
}

TEST(AbStepsTest, ADriftIsNoDifference) {
  const Rank rank = Alternating(13, 12, [](int step, bool) { return 100 * kMs + step * kMs / 10; });
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->added_ns, 0, 0.1 * kMs);
}

TEST(AbStepsTest, OneLongStepIsNoDifference) {
  const Rank rank = Alternating(
      13, 12, [](int step, bool) { return (step == 40 || step == 65 ? 5000 : 100) * kMs; });
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->added_ns, 0);
}

TEST(AbStepsTest, StepsThatComeInBurstsCountByTheirMean) {
  // The host waits for the GPU in every third step, and runs ahead in the others.
  const Rank rank = Alternating(21, 14, [](int step, bool recorded) {
    return (step % 3 != 0 ? 10 : recorded ? 300 : 270) * kMs;
  });
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_LT(found->low_ns, 10.0 * kMs);
  EXPECT_GT(found->high_ns, 10.0 * kMs);
}

TEST(AbStepsTest, NothingIsSaidOfTooLittle) {
  const auto same = [](int, bool) { return 100 * kMs; };
  EXPECT_FALSE(CompareSteps(Alternating(7, 12, same)));
  EXPECT_TRUE(CompareSteps(Alternating(9, 12, same)));
  EXPECT_FALSE(CompareSteps(Alternating(13, 5, same))) << "short blocks";
  EXPECT_FALSE(CompareSteps(Alternating(1, 200, same))) << "all is recorded";
  EXPECT_FALSE(CompareSteps(Rank()));
}

TEST(AbStepsTest, StepsAreThoseOfOneOptimizer) {
  Rank rank = Alternating(13, 12, [](int, bool recorded) { return (recorded ? 110 : 100) * kMs; });
  StepMarks& marks = rank.step_marks;
  StepMarks both;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    for (const std::uint32_t optimizer : {1, 2}) {
      both.time.push_back(marks.time[i] + optimizer);
      both.thread.push_back(0);
      both.optimizer.push_back(optimizer);
    }
  }
  marks = both;
  const std::optional<AbSteps> found = CompareSteps(rank);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->added_ns, 10.0 * kMs);
}

TEST(AbStepsTest, StudentsDistribution) {
  EXPECT_DOUBLE_EQ(StudentFactor(1), 12.706);
  EXPECT_DOUBLE_EQ(StudentFactor(20), 2.086);
  EXPECT_NEAR(StudentFactor(30), 2.042, 0.005);
  EXPECT_NEAR(StudentFactor(120), 1.980, 0.005);
}

}  // namespace
}  // namespace traceinject
