// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/testing/sample_runs.h"
#include "analyzer/report/text/text.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_ranks.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

proto::Report SlowLoader() {
  TrainingPlan plan;
  plan.load_ns = 30'000'000;
  plan.upload_bytes = 20'000'000;
  plan.checkpoint_every = 17;
  plan.checkpoint_ns = 60'000'000;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  run.ranks[0].path = "slow.db";
  return BuildReportWithVerdict(run, {});
}

TEST(FirstScreenTest, IsOneScreen) {
  const traceinject::Run ranks = RunOfRanks({{}, {.data_wait_ns = 4'000'000}});
  for (const proto::Report& report : {SlowLoader(), BuildReportWithVerdict(ranks, {})}) {
    const std::string text = WriteText(report, {});
    const std::size_t lines = LinesOf(text).size();
    EXPECT_GE(lines, 20U) << text;
    EXPECT_LE(lines, 45U) << text;
    EXPECT_GT(LinesOf(WriteText(report, {.full = true})).size(), lines);
  }
}

TEST(FirstScreenTest, FitsEveryWidth) {
  const proto::Report report = SlowLoader();
  for (const bool full : {false, true}) {
    for (const std::size_t width : {60U, 80U, 100U, 120U, 200U, 250U}) {
      const std::string text = WriteText(report, {.width = width, .full = full});
      for (const std::string& line : LinesOf(text)) {
        // Paths and addresses stay whole.
        if (line.find(' ', line.find_first_not_of(' ')) != std::string::npos) {
          EXPECT_LE(line.size(), width) << line;
        }
      }
      // The bar uses what there is.
      if (!full) {
        EXPECT_NE(text.find("[" + std::string(8, '#')), std::string::npos) << text;
      }
    }
  }
}

TEST(FirstScreenTest, HasOneStepTimeAndSaysOverWhichSteps) {
  const proto::Report report = SlowLoader();
  const proto::Verdict& verdict = report.verdict();
  ASSERT_EQ(verdict.label(), "dataloader");
  const proto::DeviceSteps& steps = report.steps(0);
  EXPECT_EQ(verdict.step_ns(), steps.judged_mean_ns());
  EXPECT_EQ(verdict.steps(), steps.judged());
  EXPECT_EQ(report.run().partition().wall_ns(), steps.judged_sum().length_ns());
  EXPECT_EQ(report.run().partition().idle_ns(), steps.judged_sum().idle_ns());
  EXPECT_LT(steps.judged(), steps.count()) << "checkpoints are left out";
  EXPECT_EQ(report.scope().text(), steps.judged_text());
  const std::string text = WriteText(report, {.width = 250});
  const std::string mean = FormatTime(verdict.step_ns());
  EXPECT_NE(text.find("the mean step of " + mean), std::string::npos) << text;
  EXPECT_NE(text.find("Mean step " + mean + " over " + steps.judged_text()), std::string::npos)
      << text;
  EXPECT_NE(text.find("2 checkpoint steps"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0.0 %"), std::string::npos) << text;
}

TEST(FirstScreenTest, HoldsFiguresAgainstTargets) {
  proto::Report report = SlowLoader();
  EXPECT_NE(WriteText(report, {}).find("target 85 %  short of target"), std::string::npos);
  proto::StepSplit& sum = *report.mutable_steps(0)->mutable_judged_sum();
  sum.set_idle_ns(sum.length_ns() / 10);
  report.mutable_devices(0)->mutable_partition()->set_communication_ns(1'000'000);
  report.mutable_devices(0)->mutable_partition()->set_communication_to_compute(0.41);
  const std::string text = WriteText(report, {});
  EXPECT_NE(text.find("GPU busy                 90.0 %  target 85 %       ok"), std::string::npos)
      << text;
  EXPECT_NE(text.find("communication / compute   0.410  target below 0.3  short of target"),
            std::string::npos)
      << text;
}

TEST(FirstScreenTest, ANextCauseThatMaySaveMoreHasNoMargin) {
  proto::Report report = SlowLoader();
  proto::Verdict& verdict = *report.mutable_verdict();
  ASSERT_NE(WriteText(report, {.width = 250}).find(", margin "), std::string::npos);
  verdict.mutable_runner_up()->set_saved_ns(verdict.saved_ns() + 1'000'000);
  verdict.set_margin(-0.02);
  const std::string text = WriteText(report, {.width = 250});
  EXPECT_NE(text.find(", but less surely"), std::string::npos) << text;
  EXPECT_EQ(text.find("margin"), std::string::npos) << text;
}

TEST(FirstScreenTest, WhatSavesNextToNothingIsNotNamed) {
  proto::Report report = SlowLoader();
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.mutable_runner_up()->set_saved_ns(verdict.step_ns() / 1'000);
  EXPECT_NE(WriteText(report, {.width = 250}).find("; nothing else saves 0.5 % of the step"),
            std::string::npos);
}

// Below a millisecond of a step no cause is named, even if it is more than 5 % of it.
TEST(FirstScreenTest, SaysFromWhichSavingOnACauseIsNamed) {
  proto::Report report = SlowLoader();
  proto::Verdict verdict;
  verdict.set_label("compute_bound");
  verdict.set_steps(20);
  verdict.set_step_ns(10'000'000);
  *report.mutable_verdict() = verdict;
  EXPECT_NE(WriteText(report, {.width = 250})
                .find("only faster kernels would surely save 1.000 ms (10.0 %) or more of the mean "
                      "step of 10.00 ms"),
            std::string::npos);
}

TEST(FirstScreenTest, SaysHowToSeeMore) {
  const proto::Report report = SlowLoader();
  EXPECT_NE(WriteText(report, {.run = "out/"}).find("analyze out/ --full"), std::string::npos);
  EXPECT_NE(WriteText(report, {}).find("analyze slow.db --full"), std::string::npos);
}

TEST(FirstScreenTest, ARunWithoutStepsIsJudgedAsAWhole) {
  const std::string text = WriteText(BuildReportWithVerdict(DamagedRun(), {}), {});
  EXPECT_NE(text.find("no steps found"), std::string::npos) << text;
  EXPECT_NE(text.find("trace health: lossy"), std::string::npos) << text;
  WriteText(proto::Report(), {});  // of nothing
}

}  // namespace
}  // namespace traceinject
