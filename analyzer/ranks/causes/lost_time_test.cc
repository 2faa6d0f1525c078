// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/lost_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

proto::LostCause Cause(const proto::Ranks& ranks, const std::string& name) {
  for (const proto::LostCause& cause : ranks.lost().causes()) {
    if (cause.name() == name) return cause;
  }
  return {};
}

proto::Ranks Analyze(const JobPlan& plan) { return AnalyzeJob(SimulateJob(plan).job); }

TEST(LostTimeTest, OfOneSlowRankAllIsItsFault) {
  JobPlan plan = Disturbed({});
  plan.straggler = 3;
  plan.slow_compute = 1.2;
  const SimulatedJob simulated = SimulateJob(plan);
  const proto::Ranks ranks = AnalyzeJob(simulated.job);
  const double truth = simulated.truth.step_ns() - SimulateJob(Healthy(plan)).truth.step_ns();
  EXPECT_NEAR(static_cast<double>(ranks.lost().lost_ns()), truth, 0.1 * truth);
  EXPECT_EQ(ranks.lost().causes(0).name(), "rank 3");
  EXPECT_NEAR(ranks.ranks(3).lost_rem(), 1, 0.1);
  EXPECT_NEAR(ranks.ranks(3).lost_add(), 1, 0.1);
  for (int row = 0; row < ranks.ranks_size(); ++row) {
    if (row == 3) continue;
    EXPECT_LT(ranks.ranks(row).lost_rem(), 0.05);
    EXPECT_LT(ranks.ranks(row).lost_add(), 0.2);
  }
}

// Without the slower of two the other still holds all up: its part shows in add only.
TEST(LostTimeTest, CausesThatHideOneAnother) {
  JobPlan plan = Disturbed({});
  plan.slow_spells = {{1, 0, plan.steps, 1.4}, {6, 0, plan.steps, 1.2}};
  const proto::Ranks ranks = Analyze(plan);
  EXPECT_NEAR(ranks.ranks(1).lost_rem(), 0.5, 0.1);
  EXPECT_NEAR(ranks.ranks(1).lost_add(), 1, 0.1);
  EXPECT_NEAR(ranks.ranks(6).lost_rem(), 0, 0.05);
  EXPECT_NEAR(ranks.ranks(6).lost_add(), 0.5, 0.1);
}

TEST(LostTimeTest, AHostIsMoreThanEachOfItsRanks) {
  JobPlan plan = DisturbedLayout(1, 8, 1, 2);
  plan.slow_spells = {{4, 0, plan.steps, 1.3}, {5, 0, plan.steps, 1.3}};
  const proto::Ranks ranks = Analyze(plan);
  const proto::LostCause host = Cause(ranks, "host node002");
  EXPECT_EQ(ranks.lost().causes(0).name(), host.name());
  EXPECT_NEAR(host.rem(), 1, 0.05);
  EXPECT_EQ(host.rows_size(), 2);
  EXPECT_LT(ranks.ranks(4).lost_rem(), 0.3);
  EXPECT_GT(ranks.ranks(4).lost_add(), 0.7);
}

TEST(LostTimeTest, ASlowStage) {
  JobPlan plan = DisturbedLayout(1, 2, 4, 8);
  plan.micro_batches = 32;
  plan.steps = 10;
  plan.stage_work = {1, 1, 1.3, 1};
  const proto::Ranks ranks = Analyze(plan);
  ASSERT_GT(ranks.lost().causes_size(), 0);
  EXPECT_EQ(ranks.lost().causes(0).name(), "stage 2");
  EXPECT_NEAR(Cause(ranks, "stage 2").rem(), 1, 0.15);
  EXPECT_LT(Cause(ranks, "stage 1").rem(), 0.1);
}

TEST(LostTimeTest, SlowGroups) {
  JobPlan plan = DisturbedLayout(2, 8, 1, 16);
  plan.slow_link.rank = 3;
  plan.slow_link.factor = 4;
  const proto::Ranks ranks = Analyze(plan);
  const proto::LostCause data = Cause(ranks, "data groups of 8 ranks"),
                         tensor = Cause(ranks, "tensor groups of 2 ranks");
  EXPECT_EQ(data.kind(), "groups");
  EXPECT_GT(data.rem(), 0.5);
  // There are these two only: what remains without the one is what the other does alone.
  EXPECT_NEAR(data.rem() + tensor.add(), 1, 0.03);
  EXPECT_NEAR(tensor.rem() + data.add(), 1, 0.03);
  EXPECT_LT(ranks.ranks(3).lost_rem(), 0.05);
}

TEST(LostTimeTest, NothingOfAHealthyJob) {
  const proto::Ranks ranks = Analyze(Disturbed({}));
  EXPECT_EQ(ranks.lost().causes_size(), 0);
  EXPECT_LT(ranks.lost().lost_ns() * 50, ranks.step_ns());
  EXPECT_FALSE(AnalyzeJob(Job{}).has_lost());
}

TEST(LostTimeTest, OfManyRanksTheWorstArePlayed) {
  JobPlan plan = Disturbed({});
  plan.data = 80;
  plan.straggler = 70;
  plan.slow_compute = 1.2;
  const proto::Ranks ranks = Analyze(plan);
  EXPECT_EQ(ranks.lost().ranks_played(), 8);
  EXPECT_EQ(ranks.lost().worst_ranks(), 3);
  EXPECT_NEAR(ranks.lost().worst_rem(), 1, 0.1);
  const auto played = std::count_if(ranks.ranks().begin(), ranks.ranks().end(),
                                    [](const auto& row) { return row.has_lost_rem(); });
  EXPECT_EQ(played, 8);
  EXPECT_TRUE(ranks.ranks(70).has_lost_rem());
}

}  // namespace
}  // namespace traceinject
