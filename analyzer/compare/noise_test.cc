// SPDX-License-Identifier: Apache-2.0
// That noise is not taken for a change, nor a change for noise: runs of one program that differ in
// jitter, correlated noise, drift, outliers and slow spells, and runs that are truly slower.
#include <gtest/gtest.h>

#include <ostream>

#include "analyzer/compare/gate/gate.h"
#include "analyzer/compare/testing/noisy_training.h"
#include "analyzer/verdict/testing/simulated_ranks.h"

namespace traceinject {
namespace {

constexpr int kSeeds = 100;

TrainingPlan NoisyPlan() {
  TrainingPlan plan;
  plan.steps = 60;
  plan.layers = 5;
  plan.kernels = 4;
  plan.kernel_ns = 500'000;
  // The loss is read, so that marks of steps on the host are where steps end on the GPU.
  plan.items_per_step = 1;
  return plan;
}

// Of kSeeds pairs of runs.
struct Outcomes {
  int failed = 0;         // the gate on the time of a step
  int no_difference = 0;  // as the comparison says
  int negligible = 0;
  int slower = 0;
  int kernels = 0;  // runs of which some kernel is told to have changed
};

std::ostream& operator<<(std::ostream& to, const Outcomes& outcomes) {
  return to << outcomes.failed << " failed, " << outcomes.no_difference << " no difference, "
            << outcomes.negligible << " negligible, " << outcomes.slower << " slower, "
            << outcomes.kernels << " with changed kernels";
}

// Of `make(seed)` for the baseline and `changed(seed)` for the run.
template <typename Make, typename Changed>
Outcomes Play(Make make, Changed changed) {
  Outcomes outcomes;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Run before = make(2 * seed), after = changed(2 * seed + 1);
    ComparedRun baseline = PrepareRun(before, {}), run = PrepareRun(after, {});
    GateOptions options;
    options.compared = {FindFigure("step_ms")};
    if (!JudgeRun(run, &baseline, options).passed()) ++outcomes.failed;
    const Comparison comparison = CompareRuns(baseline, run);
    if (comparison.outcome() == "no difference") ++outcomes.no_difference;
    if (comparison.outcome() == "negligible") ++outcomes.negligible;
    if (comparison.outcome() == "slower") ++outcomes.slower;
    if (comparison.kernels().rows_size() > 0) ++outcomes.kernels;
  }
  testing::Test::RecordProperty("outcomes", testing::PrintToString(outcomes));
  return outcomes;
}

Run Usual(std::uint64_t seed) { return NoisyTraining(NoisyPlan(), {}, seed); }

TEST(NoiseTest, RunsOfOneProgramPass) {
  const Outcomes outcomes = Play(Usual, Usual);
  EXPECT_EQ(outcomes.failed, 0) << outcomes;
  EXPECT_GE(outcomes.no_difference + outcomes.negligible, 95) << outcomes;
  EXPECT_LE(outcomes.kernels, 5) << outcomes;
}

TEST(NoiseTest, SlowerKernelsAreFound) {
  TrainingPlan plan = NoisyPlan();
  plan.kernel_ns += plan.kernel_ns / 20;
  const Outcomes outcomes =
      Play(Usual, [&](std::uint64_t seed) { return NoisyTraining(plan, {}, seed); });
  EXPECT_GE(outcomes.failed, 95) << outcomes;
  EXPECT_GE(outcomes.slower, 95) << outcomes;
}

TEST(NoiseTest, PausesThatRecurAreFound) {
  TrainingPlan plan = NoisyPlan();
  plan.collect_every = 5;
  plan.collect_ns = 10'000'000;
  const Outcomes outcomes =
      Play(Usual, [&](std::uint64_t seed) { return NoisyTraining(plan, {}, seed); });
  EXPECT_GE(outcomes.failed, 95) << outcomes;
}

traceinject::Run Calm(const TrainingPlan& plan, std::uint64_t seed) {
  const StepNoise calm = {
      .jitter = 0.002, .correlated = 0, .drift = 0, .outlier_chance = 0, .spell_chance = 0};
  return NoisyTraining(plan, calm, seed);
}

TEST(NoiseTest, WithLittleNoiseASmallChangeIsSeen) {
  TrainingPlan plan = NoisyPlan();
  plan.kernel_ns += plan.kernel_ns / 50;
  const Outcomes outcomes = Play([](std::uint64_t seed) { return Calm(NoisyPlan(), seed); },
                                 [&](std::uint64_t seed) { return Calm(plan, seed); });
  EXPECT_EQ(outcomes.slower, kSeeds) << outcomes;
  // Within the tolerance.
  EXPECT_EQ(outcomes.failed, 0) << outcomes;
}

TEST(NoiseTest, WithLittleNoiseNoneIsSeenWhereThereIsNone) {
  const auto usual = [](std::uint64_t seed) { return Calm(NoisyPlan(), seed); };
  const Outcomes outcomes = Play(usual, usual);
  EXPECT_GE(outcomes.no_difference, 95) << outcomes;
}

Run Ranks(const std::vector<RankPlan>& plans, std::uint64_t seed) {
  Run run = RunOfRanks(plans);
  const StepNoise noise = {.outlier_chance = 0.01, .spell_chance = 0};
  const TimeWarp warp(run.ranks[0].step_marks.time, NoiseFactors(noise, seed).Draw(kRankSteps));
  for (Rank& rank : run.ranks) {
    rank.path = "run" + std::to_string(seed) + std::to_string(*rank.rank) + ".db";
    warp.Apply(rank);
  }
  return run;
}

traceinject::Run UsualRanks(std::uint64_t seed) { return Ranks({{}, {}, {}, {}}, seed); }

TEST(NoiseTest, RanksOfOneProgramPass) {
  const Outcomes outcomes = Play(UsualRanks, UsualRanks);
  EXPECT_EQ(outcomes.failed, 0) << outcomes;
  EXPECT_GE(outcomes.no_difference + outcomes.negligible, 95) << outcomes;
}

TEST(NoiseTest, ARankThatBecameLateIsFound) {
  RankPlan late;
  late.more_ns = 550'000;  // 5 % of the step
  const Outcomes outcomes = Play(UsualRanks, [&](std::uint64_t seed) {
    return Ranks({{}, {}, late, {}}, seed);
  });
  EXPECT_GE(outcomes.failed, 95) << outcomes;
}

}  // namespace
}  // namespace traceinject
