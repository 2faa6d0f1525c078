// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/savings/model_error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "analyzer/verdict/labels.h"
#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// The data loader of the tutorial (docs/tutorial.md): 36.67 ms were predicted, with 34.85 to 38.37
// by the scatter of the steps, and its fix gave back 41.99 ms.
TEST(ModelErrorTest, TheFixOfTheTutorialIsInside) {
  CauseSaving saving;
  saving.label = "dataloader";
  saving.saved_ns = 36.67e6;
  saving.low_ns = 34.85e6;
  saving.high_ns = 38.37e6;
  const StatedInterval stated = StatedIntervalOf(saving);
  EXPECT_LE(stated.low_ns, saving.low_ns);
  EXPECT_GE(stated.high_ns, 41.99e6);
  EXPECT_GE(stated.cases, 3);
}

TEST(ModelErrorTest, NoMoreThanTheStep) {
  CauseSaving saving;
  saving.label = "host_code";
  saving.saved_ns = saving.low_ns = saving.high_ns = 9e6;
  saving.step_ns = 11e6;
  saving.recording_ns = 1e6;
  EXPECT_DOUBLE_EQ(StatedIntervalOf(saving).high_ns, 10e6);
  saving.step_ns = 100e6;
  EXPECT_GT(StatedIntervalOf(saving).high_ns, 10e6);
}

TEST(ModelErrorTest, EveryLabelHasOne) {
  for (const std::string_view label : kVerdictLabels) {
    const ModelError& error = ModelErrorOf(label);
    EXPECT_GE(error.cases, 3) << label;
    EXPECT_LE(error.low, 1) << label;
    EXPECT_GE(error.high, 1) << label;
    EXPECT_GT(error.low, 0) << label;
  }
  EXPECT_TRUE(ModelErrorOf("epoch_end").label.empty());
}

TEST(ModelErrorTest, ASavingOfNothingHasTheScatterAlone) {
  CauseSaving saving;
  saving.label = "sync_bound";
  saving.low_ns = -1e6;
  saving.high_ns = 2e6;
  const StatedInterval stated = StatedIntervalOf(saving);
  EXPECT_DOUBLE_EQ(stated.low_ns, -1e6);
  EXPECT_DOUBLE_EQ(stated.high_ns, 2e6);
}

TEST(ModelErrorTest, VerdictsStateBoth) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  const proto::Verdict verdict = VerdictOn(plan);
  ASSERT_EQ(verdict.label(), "dataloader");
  EXPECT_LT(verdict.saved_low_ns(), verdict.scatter_low_ns());
  EXPECT_GT(verdict.saved_high_ns(), verdict.scatter_high_ns());
  EXPECT_LE(verdict.scatter_low_ns(), verdict.saved_ns());
  EXPECT_GE(verdict.scatter_high_ns(), verdict.saved_ns());
  EXPECT_GT(verdict.error_cases(), 0);
}

}  // namespace
}  // namespace traceinject
