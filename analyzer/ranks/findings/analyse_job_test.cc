// SPDX-License-Identifier: Apache-2.0
// What a few simulated jobs are said to be; how surely causes are named: planted_causes_test.cc.
#include "analyzer/ranks/findings/analyse_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/ranks/match/rank_names.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

std::vector<std::string> UsesOf(const proto::Ranks& ranks) {
  std::vector<std::string> uses;
  for (const proto::ParallelGroups& one : ranks.groups())
    uses.push_back(one.use() + " " + std::to_string(one.size()) + " x " +
                   std::to_string(one.count()));
  std::sort(uses.begin(), uses.end());
  return uses;
}

TEST(AnalyzeJobTest, GroupsByUse) {
  JobPlan plan;
  plan.tensor = 2;
  plan.data = 2;
  plan.pipeline = 2;
  const std::vector<std::string> uses = UsesOf(AnalyzeJob(SimulateJob(plan).job));
  EXPECT_TRUE(std::count(uses.begin(), uses.end(), "tensor 2 x 4")) << testing::PrintToString(uses);
  EXPECT_TRUE(std::count(uses.begin(), uses.end(), "data 2 x 4")) << testing::PrintToString(uses);
  EXPECT_TRUE(std::count(uses.begin(), uses.end(), "pipeline 2 x 4"))
      << testing::PrintToString(uses);
  JobPlan sharded;
  sharded.sharded = true;
  EXPECT_EQ(UsesOf(AnalyzeJob(SimulateJob(sharded).job)),
            (std::vector<std::string>{"sharded 8 x 1"}));
}

TEST(AnalyzeJobTest, APipelinesShape) {
  JobPlan plan;
  plan.data = 3;
  plan.pipeline = 4;
  plan.micro_batches = 12;
  const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
  EXPECT_EQ(ranks.pipeline().stages(), 4);
  EXPECT_EQ(ranks.pipeline().pipelines(), 3);
  EXPECT_EQ(ranks.pipeline().micro_batches(), 12);
  EXPECT_NEAR(ranks.pipeline().ideal_share(), 3.0 / 15, 1e-9);
  EXPECT_NEAR(ranks.pipeline().bubble_share(), 3.0 / 15, 0.03);
  for (int row = 0; row < ranks.ranks_size(); ++row)
    EXPECT_EQ(ranks.ranks(row).stage(), row / 3) << row;
}

TEST(AnalyzeJobTest, AWholeHostIsOneCause) {
  JobPlan plan;
  plan.ranks_per_host = 2;
  SimulatedJob simulated = SimulateJob(plan);
  // The kernels of host 3 take a tenth longer: what the others wait is moved to its own time.
  for (RankSummary& rank : simulated.job.ranks) {
    if (rank.host != simulated.job.ranks[6].host) {
      for (GroupOperations& group : rank.groups) {
        for (std::size_t i = 0; i < group.count(); ++i) {
          const bool last = i + 1 == group.count() || group.step[i + 1] != group.step[i];
          if (!last) continue;
          group.start[i] -= 2'000'000;
          group.exposed_ns[i] += 2'000'000;
          group.blocked_ns[i] += 2'000'000;
        }
      }
    }
  }
  const proto::Ranks ranks = AnalyzeJob(simulated.job);
  ASSERT_EQ(ranks.findings_size(), 1);
  EXPECT_EQ(ranks.findings(0).name(), "slow_host");
  EXPECT_EQ(ranks.findings(0).rows_size(), 2);
  EXPECT_EQ(ranks.findings(0).rows(0), 6);
}

TEST(AnalyzeJobTest, WhyARankIsSlow) {
  const auto text = [](const JobPlan& plan) {
    const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
    return ranks.findings_size() == 1 ? ranks.findings(0).text() : "not one finding";
  };
  JobPlan plan;
  plan.straggler = 2;
  plan.slow_compute = 1.2;
  EXPECT_NE(text(plan).find("its GPU is slower"), std::string::npos) << text(plan);
  plan = {};
  plan.straggler = 2;
  plan.more_work = 1.2;
  EXPECT_NE(text(plan).find("it has more work"), std::string::npos) << text(plan);
  plan = {};
  plan.straggler = 2;
  plan.data_wait_ns = 5'000'000;
  EXPECT_NE(text(plan).find("its host is slower"), std::string::npos) << text(plan);
}

// Kernels of the same name take longer on a slower GPU, and where they have more to do.
TEST(AnalyzeJobTest, LargerKernelsAreMoreWork) {
  JobPlan plan;
  plan.straggler = 2;
  plan.slow_compute = 1.5;
  Job job = SimulateJob(plan).job;
  const auto reason = [&](std::int64_t blocks) {
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      for (KernelFacts& kernel : job.ranks[r].kernels) kernel.blocks = r == 2 ? blocks : 1000;
    }
    const proto::Ranks ranks = AnalyzeJob(job);
    return ranks.findings_size() == 1 ? ranks.findings(0).reason() : "not one finding";
  };
  EXPECT_EQ(reason(1000), "slower_gpu");
  EXPECT_EQ(reason(1500), "more_work");
}

// All 8 ranks share hosts 0 and 1; the way between them is slow for the groups that use it.
TEST(AnalyzeJobTest, ASlowWayBetweenHosts) {
  JobPlan plan;
  plan.tensor = 4;
  plan.data = 2;
  plan.pipeline = 4;
  plan.micro_batches = 64;
  plan.steps = 8;
  plan.ranks_per_host = 4;
  plan.slow_link.first_host = 2;
  plan.slow_link.second = 3;
  plan.slow_link.factor = 20;
  const proto::Ranks ranks = AnalyzeJob(SimulateJob(plan).job);
  ASSERT_GE(ranks.findings_size(), 1);
  EXPECT_EQ(ranks.findings(0).name(), "slow_link");
  EXPECT_NE(ranks.findings(0).text().find("between hosts node002 and node003"), std::string::npos)
      << ranks.findings(0).text();
}

TEST(AnalyzeJobTest, EqualInputGivesEqualOutput) {
  JobPlan plan;
  plan.straggler = 1;
  plan.slow_compute = 1.3;
  const Job job = SimulateJob(plan).job;
  EXPECT_EQ(AnalyzeJob(job).SerializeAsString(), AnalyzeJob(job).SerializeAsString());
}

TEST(AnalyzeJobTest, NobodyAndOne) {
  EXPECT_EQ(AnalyzeJob(Job{}).ranks_size(), 0);
  Job job = SimulateJob({}).job;
  job.ranks.resize(1);
  const proto::Ranks ranks = AnalyzeJob(job);
  EXPECT_EQ(ranks.ranks_size(), 1);
  EXPECT_EQ(ranks.findings_size(), 0);
  EXPECT_EQ(ranks.matched_operations(), 0);
}

TEST(RankNamesTest, InRanges) {
  const Job job = SimulateJob({}).job;
  EXPECT_EQ(RankNames(job, {3}), "rank 3");
  EXPECT_EQ(RankNames(job, {5, 0, 1, 2}), "ranks 0-2, 5");
  Job nameless = job;
  nameless.ranks[1].rank = -1;
  nameless.ranks[1].pid = 42;
  EXPECT_EQ(RankNames(nameless, {1, 2}), "pid 42 GPU 1, rank 2");
}

}  // namespace
}  // namespace traceinject
