// SPDX-License-Identifier: Apache-2.0
// Planted spells of slowness; how surely they are found: planted_causes_test.cc.
#include "analyzer/ranks/causes/slow_spells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

JobPlan Plan(int steps, std::vector<PlannedSpell> spells) {
  JobPlan plan = Disturbed({});
  plan.steps = steps;
  plan.slow_spells = std::move(spells);
  return plan;
}

proto::Ranks AnalyzeSpells(const JobPlan& plan) { return AnalyzeJob(SimulateJob(plan).job); }

TEST(SlowSpellsTest, SaysWhoWhenAndWhatItCost) {
  const JobPlan plan = Plan(200, {{5, 120, 180, 1.31}});
  const SimulatedJob simulated = SimulateJob(plan);
  const proto::Ranks ranks = AnalyzeJob(simulated.job);
  ASSERT_EQ(ranks.findings_size(), 1);
  const proto::RankFinding& found = ranks.findings(0);
  EXPECT_EQ(found.name(), "slow_spell");
  EXPECT_EQ(found.reason(), "slower_gpu");
  EXPECT_EQ(found.from_step(), 120);
  EXPECT_EQ(found.to_step(), 179);
  ASSERT_EQ(found.rows_size(), 1);
  EXPECT_EQ(found.rows(0), 5);
  EXPECT_NE(found.text().find("from step 120 to 179"), std::string::npos) << found.text();
  // On the clock of the job, which is that of a rank.
  const double lasted = static_cast<double>(found.to_ns() - found.from_ns());
  const auto& ends = simulated.truth.step_ends;
  EXPECT_NEAR(lasted, static_cast<double>(ends[179] - ends[119]), 0.001 * lasted);
  const double truth = simulated.truth.step_ns() - SimulateJob(Healthy(plan)).truth.step_ns();
  EXPECT_NEAR(static_cast<double>(found.saved_ns()), truth, 0.1 * truth);
}

TEST(SlowSpellsTest, SeveralAtDifferentTimesAreSeveral) {
  std::vector<PlannedSpell> spells;
  for (int i = 0; i < 6; ++i) spells.push_back({i, 20 + 30 * i, 40 + 30 * i, 1.2 + 0.05 * i});
  const proto::Ranks ranks = AnalyzeSpells(Plan(220, std::move(spells)));
  ASSERT_EQ(ranks.findings_size(), 5);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ranks.findings(i).name(), "slow_spell");
    EXPECT_EQ(ranks.findings(i).rows(0), 5 - i) << "what cost most comes first";
  }
  EXPECT_TRUE(ranks.findings(4).text().starts_with(
      "And 2 more for part of the run: rank 1 (steps 50 to 69"))
      << ranks.findings(4).text();
}

TEST(SlowSpellsTest, RanksOfAHostAtOneTimeAreOne) {
  JobPlan plan = Plan(120, {{4, 60, 80, 1.3}, {5, 61, 80, 1.4}});
  plan.ranks_per_host = 2;
  const proto::Ranks ranks = AnalyzeSpells(plan);
  ASSERT_EQ(ranks.findings_size(), 1);
  EXPECT_EQ(ranks.findings(0).rows_size(), 2);
  EXPECT_TRUE(ranks.findings(0).text().starts_with("The whole host node002 (ranks 4-5) was"))
      << ranks.findings(0).text();
}

// A straggler for two thirds of the run is told once, with the time.
TEST(SlowSpellsTest, AStragglerThatBeganLateSaysWhen) {
  const proto::Ranks ranks = AnalyzeSpells(Plan(120, {{3, 40, 120, 1.3}}));
  ASSERT_EQ(ranks.findings_size(), 1);
  EXPECT_EQ(ranks.findings(0).name(), "straggler");
  const auto& evidence = ranks.findings(0).evidence();
  EXPECT_TRUE(std::any_of(evidence.begin(), evidence.end(), [](const std::string& one) {
    return one.find("slower than usual from step 40 to 119") != std::string::npos;
  }));
}

// A straggler may be slower still for a while.
TEST(SlowSpellsTest, AStragglerWithASpell) {
  JobPlan plan = Plan(200, {{3, 40, 70, 1.4}});
  plan.straggler = 3;
  plan.slow_compute = 1.15;
  const proto::Ranks ranks = AnalyzeSpells(plan);
  ASSERT_EQ(ranks.findings_size(), 2);
  EXPECT_EQ(ranks.findings(0).name(), "straggler");
  EXPECT_EQ(ranks.findings(1).name(), "slow_spell");
}

TEST(SlowSpellsTest, WhatRanksAtWorkOnUnevenBatchesDoIsNone) {
  JobPlan plan = Plan(200, {});
  plan.imbalance = 0.3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan, seed).job);
    for (const proto::RankFinding& found : ranks.findings())
      EXPECT_EQ(found.name(), "imbalance") << seed << ": " << found.text();
  }
}

TEST(SlowSpellsTest, SpellsAreNoImbalance) {
  const proto::Ranks ranks = AnalyzeSpells(Plan(60, {{1, 10, 30, 1.5}, {6, 35, 55, 1.5}}));
  ASSERT_EQ(ranks.findings_size(), 2);
  for (const proto::RankFinding& found : ranks.findings()) EXPECT_EQ(found.name(), "slow_spell");
}

}  // namespace
}  // namespace traceinject
