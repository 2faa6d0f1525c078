// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/nvtx_steps.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(NvtxStepsTest, WhatNamesAStep) {
  EXPECT_EQ(StepPrefix("ProfilerStep#12"), "ProfilerStep#");
  EXPECT_EQ(StepPrefix("step 3"), "step ");
  EXPECT_EQ(StepPrefix("train_step_17"), "train_step_");
  EXPECT_EQ(StepPrefix("Iteration: 5"), "Iteration: ");
  EXPECT_EQ(StepPrefix("iter007"), "iter");
  EXPECT_EQ(StepPrefix("train#_r=1,step_num=12#"), "train#_r=1,step_num=");
  EXPECT_EQ(StepPrefix("eval#step_num=3,_r=1#"), "eval#step_num=");
  for (const char* text :
       {"", "step", "Optimizer.step#SGD.step", "footstep 3", "misstep1", "epoch 3", "42",
        "step 3 done", "# 4", "step_num=3", "my_step_num=3#", "train#step_num=#"}) {
    EXPECT_EQ(StepPrefix(text), "") << text;
  }
}

TEST(NvtxStepsTest, CountsRangesByTheirMiddle) {
  RankBuilder builder;
  builder.AddRange({-1000, 100, "step 0"});  // began before the GPU did: [0, 100) counts
  builder.AddRange({100, 200, "step 1"});
  builder.AddRange({200, 300, "step 2"});
  const Interval span{0, 300};
  EXPECT_EQ(CountSteps(builder.rank(), span, span)->steps, 3);
  EXPECT_EQ(CountSteps(builder.rank(), span, span)->pattern, "step N");
  EXPECT_EQ(CountSteps(builder.rank(), span, {0, 140})->steps, 1);
  EXPECT_EQ(CountSteps(builder.rank(), span, {40, 160})->steps, 2);
}

TEST(NvtxStepsTest, ProfilerStepWinsThenTheOutermost) {
  RankBuilder builder;
  builder.AddRange({0, 100, "iteration 0"});
  builder.AddRange({10, 50, "step 0"});
  builder.AddRange({50, 90, "step 1"});
  EXPECT_EQ(CountSteps(builder.rank(), {0, 100}, {0, 100})->pattern, "iteration N");
  builder.AddRange({60, 70, "ProfilerStep#9"});
  EXPECT_EQ(CountSteps(builder.rank(), {0, 100}, {0, 100})->pattern, "ProfilerStep#N");
}

TEST(NvtxStepsTest, ThreadsAreNotAddedUpAndMarksDoNotCount) {
  RankBuilder builder;
  builder.AddRange({0, 50, "step 0", "", 0});
  builder.AddRange({0, 50, "step 0", "", 1});
  builder.AddRange({50, 90, "step 1", "", 0});
  builder.AddRange({95, 95, "step 2", "", 0, NvtxKind::kMark});
  EXPECT_EQ(CountSteps(builder.rank(), {0, 100}, {0, 100})->steps, 2);
}

TEST(NvtxStepsTest, APatternOfTheUserNamesSteps) {
  const Result<StepPattern> pattern = StepPattern::Parse("^batch [0-9]+$");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern.value().Matches("batch 12"));
  EXPECT_FALSE(pattern.value().Matches("my batch 12"));
  EXPECT_FALSE(StepPattern::Parse("[").ok());
  EXPECT_FALSE(StepPattern::Parse("").ok());
  EXPECT_FALSE(StepPattern::Parse("a*").value().Matches(std::string(1'000'000, 'a')));
  RankBuilder builder;
  builder.AddRange({0, 50, "batch 0"});
  builder.AddRange({5, 20, "step 1"});
  builder.AddRange({50, 100, "batch 1"});
  const std::optional<StepRanges> found =
      FindStepRanges(builder.rank(), {0, 100}, &pattern.value());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, "^batch [0-9]+$");
  EXPECT_EQ(found->ranges, (std::vector<Interval>{{0, 50}, {50, 100}}));
  EXPECT_EQ(CountSteps(builder.rank(), {0, 100}, {0, 100}, &pattern.value())->steps, 2);
}

TEST(NvtxStepsTest, WhatLiesWithinAMatchIsNoStep) {
  const Result<StepPattern> pattern = StepPattern::Parse("batch");
  RankBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.AddRange({i * 100, i * 100 + 90, "batch"});
    builder.AddRange({i * 100 + 10, i * 100 + 20, "copy batch"});
  }
  EXPECT_EQ(FindStepRanges(builder.rank(), {0, 300}, &pattern.value())->ranges.size(), 3U);
}

TEST(NvtxStepsTest, NoRangesNoCount) {
  RankBuilder builder;
  builder.AddRange({0, 50, "forward"});
  EXPECT_FALSE(CountSteps(builder.rank(), {0, 100}, {0, 100}));
}

}  // namespace
}  // namespace traceinject
