// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/step_numbers.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Interval kSpan{0, 1000};
// Ten steps.
const std::vector<TimeNs> kCuts = {0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000};

// Ranges that number the steps from `first_step` on, beginning with `number`.
RankBuilder Numbered(const std::string& name, TimeNs first_step, int number) {
  RankBuilder builder;
  for (TimeNs start = 100 * first_step; start < 1000; start += 100)
    builder.AddRange({start + 5, start + 90, name + std::to_string(number++)});
  return builder;
}

TEST(StepNumbersTest, ThoseOfTheProgram) {
  for (const char* name : {"step ", "ProfilerStep#", "train_iter_"}) {
    // Three steps of warm-up without a range: the program's step 22 is the fourth.
    RankBuilder builder = Numbered(name, 3, 22);
    const auto found = NumbersOfSteps(builder.rank(), kSpan, kCuts, nullptr);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->shift, 18);
    EXPECT_EQ(found->name, name);
  }
  RankBuilder from_zero_builder = Numbered("step ", 0, 0);
  const auto from_zero = NumbersOfSteps(from_zero_builder.rank(), kSpan, kCuts, nullptr);
  ASSERT_TRUE(from_zero.has_value());
  EXPECT_EQ(from_zero->shift, -1) << "a program may count from 0";
}

TEST(StepNumbersTest, ThoseOfTheUsersPattern) {
  const Result<StepPattern> pattern = StepPattern::Parse("^batch [0-9]+$");
  ASSERT_TRUE(pattern.ok());
  RankBuilder builder = Numbered("batch ", 0, 7);
  const auto found = NumbersOfSteps(builder.rank(), kSpan, kCuts, &pattern.value());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->shift, 6);
  EXPECT_FALSE(NumbersOfSteps(builder.rank(), kSpan, kCuts, nullptr)) << "no name of a step";
}

TEST(StepNumbersTest, NumbersThatStartAnewAreNone) {
  RankBuilder epochs, none;
  for (int step = 0; step < 10; ++step)
    epochs.AddRange({100 * step, 100 * step + 90, "step " + std::to_string(step % 5)});
  EXPECT_FALSE(NumbersOfSteps(epochs.rank(), kSpan, kCuts, nullptr));
  EXPECT_FALSE(NumbersOfSteps(none.rank(), kSpan, kCuts, nullptr));
}

TEST(StepNumbersTest, OneRangeOutOfPlaceChangesNothing) {
  RankBuilder builder;
  for (int step = 0; step < 10; ++step)
    builder.AddRange({100 * step, 100 * step + 90, "step " + std::to_string(step + 40)});
  builder.AddRange({310, 320, "step 99"});
  const auto found = NumbersOfSteps(builder.rank(), kSpan, kCuts, nullptr);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->shift, 39);
}

}  // namespace
}  // namespace traceinject
