// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/savings/between_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// 20 ms of training a step.
TrainingPlan Training() {
  TrainingPlan plan;
  plan.steps = 64;
  plan.layer = {{"gemm_fwd_kernel", 1'000'000}, {"gemm_bwd_kernel", 1'000'000}};
  return plan;
}

// 160 ms every 16 steps, most of it waits for data.
TrainingPlan WithEvaluation() {
  TrainingPlan plan = Training();
  plan.evaluate_every = 16;
  plan.evaluated_batches = 4;
  plan.evaluate_load_ns = 30'000'000;
  return plan;
}

TrainingPlan WithoutEvaluation(TrainingPlan plan) {
  plan.evaluate_every = 0;
  return plan;
}

TEST(BetweenStepsTest, HardlyAnythingIsNoVerdict) {
  EXPECT_FALSE(VerdictOn(Training()).has_between());
  TrainingPlan plan = WithEvaluation();
  plan.evaluate_every = 60;
  plan.evaluated_batches = 1;
  EXPECT_FALSE(VerdictOn(plan).has_between());
}

TEST(BetweenStepsTest, EvaluationsBesideASlowLoader) {
  TrainingPlan plan = WithEvaluation();
  plan.load_ns = 40'000'000;
  const Report report = ReportOn(plan);
  const proto::Verdict& verdict = report.verdict();
  EXPECT_EQ(verdict.label(), "dataloader");
  ASSERT_TRUE(verdict.has_between());
  EXPECT_EQ(verdict.between().label(), "evaluation");
}

TEST(BetweenStepsTest, HowOftenHowLongAndWhatOf) {
  const Report report = ReportOn(WithEvaluation());
  ASSERT_TRUE(report.verdict().has_between());
  const proto::BetweenSteps& between = report.verdict().between();
  EXPECT_EQ(between.label(), "evaluation");
  EXPECT_EQ(between.times(), 4);
  // Of 64 steps of 20 ms and four evaluations of 4 * (30 + 10) ms, of which a wait each is hidden:
  // the host is ahead by the work of a step and a half.
  EXPECT_NEAR(static_cast<double>(between.ns()), 4 * 130e6, 20e6);
  EXPECT_NEAR(between.share(), 520.0 / (64 * 20 + 520), 0.02);
  EXPECT_NE(between.text().find("% of the time is evaluation: 12"), std::string::npos)
      << between.text();
  EXPECT_NE(between.text().find("every 16 steps, of which waiting for data "), std::string::npos)
      << between.text();
  const proto::RunTime& time = report.steps(0).run_time();
  EXPECT_NEAR(time.goodput(), 1280.0 / 1800, 0.02);
  EXPECT_NEAR(time.between_share(), between.all_share(), 1e-9);
}

// Nothing in the steps says why they take what they take, and the time does not go into them.
TEST(BetweenStepsTest, EvaluationsAreTheVerdictWhereTheStepsHaveNone) {
  TrainingPlan plan = WithEvaluation();
  plan.load_ns = 26'000'000;
  plan.record_loading = false;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "evaluation") << verdict.abstained();
  EXPECT_TRUE(verdict.abstained().empty());
  EXPECT_EQ(verdict.title(), "Evaluation");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 640e6 / 64, 3e6);
  EXPECT_GT(verdict.confidence(), 0.5);
  EXPECT_GE(verdict.levers_size(), 1);
  EXPECT_NE(verdict.evidence(0).text().find("is evaluation"), std::string::npos);
  // Of all steps with the evaluations, and without: what a regular step takes.
  const std::int64_t regular_ns = VerdictOn(WithoutEvaluation(plan)).step_ns();
  EXPECT_NEAR(static_cast<double>(verdict.step_ns()), static_cast<double>(regular_ns) + 640e6 / 64,
              3e6);
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns() + verdict.recording_ns()),
              static_cast<double>(regular_ns), 3e6);
}

TEST(BetweenStepsTest, EndsOfEpochs) {
  TrainingPlan plan = Training();
  plan.epoch_every = 32;
  plan.epoch_ns = 400'000'000;
  const Report report = ReportOn(plan);
  ASSERT_TRUE(report.verdict().has_between());
  EXPECT_EQ(report.verdict().between().label(), "epoch_end");
  EXPECT_NEAR(static_cast<double>(report.verdict().between().ns()), 2 * 400e6, 30e6);
  const proto::RunTime& time = report.steps(0).run_time();
  ASSERT_EQ(time.host_waits_size(), 1);
  EXPECT_EQ(time.host_waits(0).reason(), "data workers starting");
}

// No verdict, but what is known of the time that nothing explains.
TEST(BetweenStepsTest, UnrecordedTimeSaysWhatIsKnownOfIt) {
  TrainingPlan plan = Training();
  plan.load_ns = 40'000'000;
  plan.record_loading = false;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "inconclusive");
  bool said = false;
  for (const proto::Evidence& line : verdict.evidence())
    said = said || line.text().find("unrecorded host activity, unknown: ") == 0;
  EXPECT_TRUE(said);
}

TEST(BetweenStepsTest, Checkpoints) {
  TrainingPlan plan = Training();
  plan.checkpoint_every = 16;
  plan.checkpoint_ns = 200'000'000;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "checkpoint");
  EXPECT_EQ(verdict.between().label(), "checkpoint");
}

// The line of the program at which evaluations were seen, and not that of training.
TEST(BetweenStepsTest, ThePlaceIsThatOfEvaluations) {
  Rank rank = SimulatedTraining(WithEvaluation()).rank();
  RankBuilder stacks;
  const std::uint32_t train = stacks.AddStack({{"main", "/home/me/train.py", 30}});
  const std::uint32_t evaluate =
      stacks.AddStack({{"main", "/home/me/train.py", 34}, {"evaluate", "/home/me/train.py", 12}});
  std::size_t next = 0;
  for (TimeNs time = 2'000'000; time < rank.end; time += 3'000'000) {
    while (next < rank.data_waits.size() && rank.data_waits.end[next] <= time) ++next;
    const bool waits = next < rank.data_waits.size() && rank.data_waits.start[next] <= time;
    stacks.AddLook(time, waits ? evaluate : train);
  }
  Rank& from = stacks.rank();
  const auto strings = static_cast<std::uint32_t>(rank.strings.size());
  for (const std::string& text : from.strings) rank.strings.push_back(text);
  for (CodePlace place : from.places) {
    place.function += strings;
    place.file += strings;
    rank.places.push_back(place);
  }
  rank.stacks = from.stacks;
  rank.stack_samples = from.stack_samples;
  const Report report = BuildReportWithVerdict(RunOf(rank), {});
  EXPECT_EQ(report.verdict().between().place(), "train.py:12 in evaluate");
}

}  // namespace
}  // namespace traceinject
