// SPDX-License-Identifier: Apache-2.0
// The steps of a report: which are chosen, and that they add up.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

TEST(ReportedStepsTest, OnlyTheChosenSteps) {
  TrainingPlan plan;
  plan.load_ns = 5'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const Report all = BuildReportWithVerdict(RunOf(rank), {});
  ReportOptions options;
  options.steps = StepChoice{11, 20};
  options.mfu.flops_per_step = 1e9;
  const Report part = BuildReportWithVerdict(RunOf(rank), options);
  ASSERT_EQ(part.devices_size(), 1);
  ASSERT_EQ(part.steps_size(), 1);
  EXPECT_EQ(part.steps(0).first(), 11);
  ASSERT_EQ(part.steps(0).count(), 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(part.steps(0).steps(i).start_ns(), all.steps(0).steps(10 + i).start_ns());
    EXPECT_EQ(part.steps(0).steps(i).length_ns(), all.steps(0).steps(10 + i).length_ns());
  }
  const proto::Window& window = part.devices(0).window();
  EXPECT_TRUE(window.restricted());
  EXPECT_EQ(window.start_ns(), all.steps(0).steps(10).start_ns());
  EXPECT_EQ(window.end_ns(), all.steps(0).steps(20).start_ns());
  // The device's own figures are those of its steps.
  EXPECT_EQ(part.devices(0).partition().wall_ns(), part.steps(0).sum().length_ns());
  EXPECT_EQ(part.devices(0).partition().idle_ns(), part.steps(0).sum().idle_ns());
  EXPECT_EQ(part.mfu().steps(), 10);
}

// Those that a report on a recording in windows names can be asked for.
TEST(ReportedStepsTest, StepsOfAWindowKeepTheirNumbers) {
  Rank rank = SimulatedTraining({}).rank();
  const Report whole = BuildReportWithVerdict(RunOf(rank), {});
  const TimeNs begin = whole.steps(0).steps(6).start_ns() + RunOrigin(RunOf(rank)).value();
  rank.devices[0].ops.planned_gaps = {{0, begin}};
  ReportOptions options;
  const std::int64_t first = BuildReportWithVerdict(RunOf(rank), options).steps(0).first();
  EXPECT_GT(first, 1);
  options.steps = StepChoice{first + 1, first + 3};
  const Report part = BuildReportWithVerdict(RunOf(rank), options);
  ASSERT_EQ(part.steps_size(), 1) << part.notes(0);
  EXPECT_EQ(part.steps(0).first(), first + 1);
  EXPECT_EQ(part.steps(0).count(), 3);
  options.steps = StepChoice{1, 3};
  EXPECT_NE(BuildReportWithVerdict(RunOf(rank), options).notes(0).find("in the selected part"),
            std::string::npos);
}

// What comes after the window says nothing about how much of the window was joined to its launches.
TEST(ReportedStepsTest, AnEarlyPartIsJudgedLikeTheWhole) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const Report all = BuildReportWithVerdict(RunOf(rank), {});
  ReportOptions options;
  options.steps = StepChoice{1, 8};
  const Report part = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(all.verdict().label(), "dataloader");
  EXPECT_EQ(part.verdict().label(), "dataloader");
}

TEST(ReportedStepsTest, StepsThatAreNotThereAreNotChosen) {
  Rank rank = SimulatedTraining({}).rank();
  ReportOptions options;
  options.steps = StepChoice{30, 300};
  const Report report = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(report.devices_size(), 0);
  EXPECT_EQ(report.steps_size(), 0);
  ASSERT_GE(report.notes_size(), 1);
  EXPECT_NE(report.notes(0).find("not the selected 30 to 300"), std::string::npos)
      << report.notes(0);
}

TEST(ReportedStepsTest, APatternThatNamesNoStepsIsSaid) {
  Rank rank = SimulatedTraining({}).rank();
  ReportOptions options;
  options.step_pattern = StepPattern::Parse("epoch").value();
  const Report report = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(report.steps(0).source(), "whole window");
  ASSERT_GE(report.notes_size(), 1);
  EXPECT_NE(report.notes(0).find("'epoch' matches 0 NVTX ranges"), std::string::npos)
      << report.notes(0);
}

TEST(ReportedStepsTest, StepsInTheReportAddUp) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  plan.upload_bytes = 30'000'000;
  plan.communication_ns = 2'000'000;
  const Report report = ReportOn(plan);
  ASSERT_EQ(report.steps_size(), 1);
  EXPECT_EQ(report.steps(0).count(), plan.steps - 1);
  EXPECT_EQ(report.steps(0).source(), "optimizer steps");
  for (const proto::StepSplit& step : report.steps(0).steps()) {
    EXPECT_EQ(step.compute_ns() + step.exposed_communication_ns() + step.exposed_copy_ns() +
                  step.idle_ns(),
              step.length_ns());
    const std::int64_t idle =
        std::accumulate(step.idle().begin(), step.idle().end(), std::int64_t{0},
                        [](std::int64_t sum, const proto::IdlePart& p) { return sum + p.ns(); });
    EXPECT_EQ(idle, step.idle_ns());
  }
}

// In both sums: all but warm-up, and the regular ones.
TEST(ReportedStepsTest, WaitsForDataAddUp) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  plan.checkpoint_every = 8;
  plan.checkpoint_ns = 90'000'000;
  const Report report = ReportOn(plan);
  const proto::DeviceSteps& steps = report.steps(0);
  std::int64_t all_ns = 0, regular_ns = 0, regular = 0;
  for (const proto::StepSplit& step : steps.steps()) {
    if (!step.warm_up()) all_ns += step.data_wait_ns();
    if (step.kind() != "regular") continue;
    regular_ns += step.data_wait_ns();
    regular += step.data_waits();
  }
  EXPECT_GT(regular_ns, 0);
  EXPECT_GT(all_ns, regular_ns);
  EXPECT_EQ(steps.sum().data_wait_ns(), all_ns);
  EXPECT_EQ(steps.regular_sum().data_wait_ns(), regular_ns);
  EXPECT_EQ(steps.regular_sum().data_waits(), regular);
}

TEST(ReportedStepsTest, RegularStepsAndThoseLeftOutAreAll) {
  TrainingPlan plan;
  plan.checkpoint_every = 8;
  plan.checkpoint_ns = 90'000'000;
  const Report report = ReportOn(plan);
  const proto::DeviceSteps& steps = report.steps(0);
  // The verdict is about checkpoints: they are judged, in whole periods.
  ASSERT_EQ(report.verdict().label(), "checkpoint");
  std::int64_t left_out = 0, left_out_ns = 0;
  for (const proto::LeftOutSteps& left : steps.left_out()) {
    left_out += left.count();
    left_out_ns += left.total_ns();
  }
  EXPECT_EQ(steps.judged() % plan.checkpoint_every, 0);
  EXPECT_EQ(steps.judged() + left_out, steps.count());
  EXPECT_EQ(steps.judged(), report.verdict().steps());
  EXPECT_EQ(steps.judged_mean_ns(), report.verdict().step_ns());
  EXPECT_EQ(report.run().partition().wall_ns(), steps.judged_sum().length_ns());
  std::int64_t all_ns = 0;
  for (const proto::StepSplit& step : steps.steps()) all_ns += step.length_ns();
  const proto::StepSplit& sum = steps.regular_sum();
  EXPECT_EQ(steps.judged_sum().length_ns() + left_out_ns, all_ns);
  EXPECT_EQ(
      sum.compute_ns() + sum.exposed_communication_ns() + sum.exposed_copy_ns() + sum.idle_ns(),
      sum.length_ns());
  for (const proto::IdlePart& part : sum.idle()) EXPECT_NE(part.cause(), "checkpoint");
}

// Whenever it is told: what it gives is the report or has no verdict.
TEST(ReportedStepsTest, StepsAloneAreThoseOfTheVerdict) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  const auto run = RunOf(SimulatedTraining(plan).rank());
  const Report with_verdict = BuildReportWithVerdict(run, {});
  const Report steps = BuildReportWithSteps(run, {});
  ASSERT_EQ(steps.steps_size(), 1);
  EXPECT_EQ(steps.steps(0).SerializeAsString(), with_verdict.steps(0).SerializeAsString());
  ReportOptions few;
  few.step_rows = 3;
  const Report first = BuildReportWithSteps(run, few);
  EXPECT_EQ(first.steps(0).steps_size(), 3);
  EXPECT_EQ(first.steps(0).sum().length_ns(), steps.steps(0).sum().length_ns());
}

}  // namespace
}  // namespace traceinject
