// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/timeline_job.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

TimelinePlan Quiet(int data, int stages, int micro_batches) {
  TimelinePlan plan;
  plan.data = data;
  plan.stages = stages;
  plan.micro_batches = micro_batches;
  plan.noise = plan.transfer_noise = 0;
  plan.most_gap_ns = plan.transfer_ns = 0;
  plan.forward_ns = 2 * kMs;
  plan.optimizer_ns = plan.reduce_ns = kMs;
  return plan;
}

double StepOf(const TimelinePlan& plan) {
  return PlayTimeline(plan, DrawDurations(plan, 1), 1, false).step_ns;
}

// (m + p - 1) passes forward and backward of a stage, then the end of the step.
TEST(TimelineJobTest, PipelinesTakeWhatTheFormulaSays) {
  for (const bool gpipe : {false, true}) {
    TimelinePlan plan = Quiet(2, 4, 8);
    plan.gpipe = gpipe;
    EXPECT_NEAR(StepOf(plan), (8 + 3) * 6.0 * kMs + 2.0 * kMs, 1) << gpipe;
  }
}

TEST(TimelineJobTest, WhatMovesTakesTimeOnceForEachStage) {
  TimelinePlan plan = Quiet(1, 3, 1);
  plan.transfer_ns = kMs;
  EXPECT_NEAR(StepOf(plan), 3 * 6.0 * kMs + 4.0 * kMs + 1.0 * kMs, 1);
}

TEST(TimelineJobTest, AllWaitForTheSlowRank) {
  TimelinePlan plan = Quiet(4, 1, 2);
  plan.slow_rank = 3;
  plan.slow_factor = 1.5;
  EXPECT_NEAR(StepOf(plan), 1.5 * (12.0 + 1.0) * kMs + kMs, 1);
}

TEST(TimelineJobTest, EvenMicroBatchesKeepTheWork) {
  TimelinePlan plan = Quiet(1, 1, 8);
  plan.length_spread = 0.5;
  const TimelineDurations drawn = DrawDurations(plan, 1);
  const double uneven = PlayTimeline(plan, drawn, 1, false).step_ns,
               even =
                   PlayTimeline(plan, Changed(drawn, WhatIf::kEvenMicroBatches), 1, false).step_ns;
  EXPECT_NEAR(uneven, even, 2) << "alone nobody waits for anybody";
}

}  // namespace
}  // namespace traceinject
