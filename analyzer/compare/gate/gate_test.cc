// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/gate.h"

#include <gtest/gtest.h>

#include "analyzer/compare/gate/text_gate.h"
#include "analyzer/compare/testing/noisy_training.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

using proto::ConditionResult;

Run RunOf(TimeNs load_ns, std::uint64_t seed) {
  TrainingPlan plan;
  plan.items_per_step = 1;
  plan.load_ns = load_ns;
  return NoisyTraining(plan, {.drift = 0, .outlier_chance = 0, .spell_chance = 0}, seed);
}

GateOptions Require(const std::vector<std::string>& conditions) {
  GateOptions options;
  for (const std::string& text : conditions)
    options.conditions.push_back(ParseCondition(text, "--require").value());
  return options;
}

GateResult Judge(const Run& run, const GateOptions& options) {
  ComparedRun side = PrepareRun(run, {});
  return JudgeRun(side, nullptr, options);
}

GateResult Judge(const Run& run, const Run& base, const GateOptions& options) {
  ComparedRun side = PrepareRun(run, {}), baseline = PrepareRun(base, {});
  return JudgeRun(side, &baseline, options);
}

GateOptions Against(const std::vector<std::string>& figures) {
  GateOptions options;
  for (const std::string& name : figures) options.compared.push_back(FindFigure(name));
  return options;
}

TEST(GateTest, ConditionsThatHoldPass) {
  const GateResult result = Judge(
      RunOf(0, 1),
      Require({"step_ms <= 25", "gpu_busy >= 90%", "verdict == compute_bound",
               "data_wait_share <= 0.01", "allocator_retries == 0", "kernels_per_step <= 100"}));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(result.conditions(i).outcome(), ConditionResult::OUTCOME_PASSED)
        << result.conditions(i).reason();
  EXPECT_EQ(result.conditions(4).outcome(), ConditionResult::OUTCOME_UNKNOWN);
  EXPECT_EQ(result.conditions(5).outcome(), ConditionResult::OUTCOME_PASSED);
}

TEST(GateTest, AFailureSaysValueLimitAndCause) {
  const GateResult result =
      Judge(RunOf(10'000'000, 1), Require({"step_ms <= 25", "verdict != dataloader"}));
  EXPECT_FALSE(result.passed());
  const ConditionResult& step = result.conditions(0);
  EXPECT_EQ(step.outcome(), ConditionResult::OUTCOME_FAILED);
  EXPECT_TRUE(Says(step.value(), "30.") && step.value().ends_with(" ms")) << step.value();
  EXPECT_EQ(step.limit(), "<= 25.00 ms");
  EXPECT_TRUE(Says(step.reason(), ", not <= 25.00 ms"));
  EXPECT_EQ(result.conditions(1).reason(), "it is dataloader");
  EXPECT_TRUE(Says(result.cause(), "the verdict is Data loading (dataloader), which costs"));
  TextPage page(false);
  WriteGate(result, page);
  EXPECT_TRUE(Says(page.text(), "gate: FAILED, 2 conditions"));
  EXPECT_TRUE(Says(page.text(), "cause: the verdict is Data loading (dataloader)"));
}

TEST(GateTest, UnknownFiguresFailUnlessAllowed) {
  GateOptions options = Require({"mfu >= 0.4", "tokens_per_second >= 1"});
  const GateResult strict = Judge(RunOf(0, 1), options);
  EXPECT_FALSE(strict.passed());
  EXPECT_EQ(strict.conditions(0).value(), "");
  EXPECT_TRUE(Says(strict.conditions(0).reason(), "--flops-per-step"));
  EXPECT_TRUE(Says(strict.conditions(1).reason(), "--tokens-per-step"));
  EXPECT_EQ(strict.cause(), "");
  options.allow_unknown = true;
  EXPECT_TRUE(Judge(RunOf(0, 1), options).passed());
  EXPECT_FALSE(Judge(RunOf(0, 1),
                     [&] {
                       options.conditions.push_back(ParseCondition("step_ms <= 1", "").value());
                       return options;
                     }())
                   .passed());
}

TEST(GateTest, SlowerThanTheBaseline) {
  const GateResult result = Judge(RunOf(4'000'000, 2), RunOf(0, 1),
                                  Against({"step_ms", "data_wait_share", "compute_ms"}));
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.conditions(0).condition(), "step_ms within 3 % of the baseline");
  EXPECT_EQ(result.conditions(0).outcome(), ConditionResult::OUTCOME_FAILED);
  EXPECT_TRUE(Says(result.conditions(0).reason(), "in the baseline (95 % interval of the change"));
  EXPECT_EQ(result.conditions(1).outcome(), ConditionResult::OUTCOME_FAILED);
  EXPECT_EQ(result.conditions(2).outcome(), ConditionResult::OUTCOME_PASSED);
  EXPECT_TRUE(Says(result.cause(), "slower than the baseline: idle: data wait +"))
      << result.cause();
  // The other way round nothing is worse.
  EXPECT_TRUE(Judge(RunOf(0, 1), RunOf(4'000'000, 2), Against({"step_ms"})).passed());
}

TEST(GateTest, WithinTheToleranceIsNoFailure) {
  GateOptions options = Against({"step_ms", "samples_per_second"});
  options.allow_unknown = true;
  options.tolerance = 0.5;
  const GateResult result = Judge(RunOf(4'000'000, 2), RunOf(0, 1), options);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.conditions(1).outcome(), ConditionResult::OUTCOME_UNKNOWN);
}

TEST(GateTest, FewStepsTellNoChange) {
  TrainingPlan few;
  few.items_per_step = 1;
  few.steps = 8;
  few.load_ns = 4'000'000;
  const GateResult result = Judge(NoisyTraining(few, {.spell_chance = 0}, 3), RunOf(0, 1),
                                  Against({"step_ms", "kernels_per_step"}));
  EXPECT_EQ(result.conditions(0).outcome(), ConditionResult::OUTCOME_UNKNOWN);
  EXPECT_TRUE(Says(result.conditions(0).reason(), "record 10 or more"));
  EXPECT_NE(result.conditions(1).outcome(), ConditionResult::OUTCOME_UNKNOWN);
}

TEST(GateTest, ALimitMeansTheSameWithABaseline) {
  GateOptions options = Require({"step_ms <= 1"});
  const traceinject::Run run = RunOf(0, 1);
  EXPECT_EQ(Judge(run, options).conditions(0).value(),
            Judge(run, RunOf(9'000'000, 2), options).conditions(0).value());
}

TEST(GateTest, FiguresWithoutNoiseKnownAreNotCompared) {
  EXPECT_TRUE(WhyNotCompared(*FindFigure("step_ms")).empty());
  EXPECT_TRUE(WhyNotCompared(*FindFigure("peak_memory_bytes")).empty());
  EXPECT_TRUE(Says(std::string(WhyNotCompared(*FindFigure("step_ms_p95"))), "--require"));
}

TEST(GateTest, ListNamesAllFiguresAndVerdicts) {
  TextPage page(false);
  WriteFigureList(page);
  for (const Figure& figure : Figures())
    EXPECT_TRUE(Says(page.text(), "\n  " + std::string(figure.name) + " ")) << figure.name;
  EXPECT_TRUE(Says(page.text(), "pipeline_bubble"));
}

}  // namespace
}  // namespace traceinject
