// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/fix_order.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/verdict/testing/judge_and_write.h"
#include "analyzer/verdict/testing/simulated_ranks.h"
#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

double Simulated(const TrainingPlan& plan) { return SimulatedTraining(plan).step_ns(); }

std::string Labels(const proto::Verdict& verdict) {
  std::string labels;
  for (const proto::FixStep& step : verdict.fix_order()) labels += step.label() + " ";
  return labels;
}

// Each step against the same program with all causes up to there gone.
void ExpectSteps(const proto::Verdict& verdict, const std::vector<TrainingPlan>& plans) {
  ASSERT_EQ(verdict.fix_order_size(), static_cast<int>(plans.size())) << verdict.DebugString();
  std::int64_t before_ns = verdict.step_ns() - verdict.recording_ns();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const proto::FixStep& step = verdict.fix_order(static_cast<int>(i));
    const double truth = Simulated(plans[i]);
    EXPECT_NEAR(static_cast<double>(step.step_ns()), truth, 0.1 * truth) << step.label();
    EXPECT_EQ(step.step_ns(), before_ns - step.saved_ns());
    before_ns = step.step_ns();
  }
}

TEST(FixOrderTest, WhatTheLoaderLeavesIsNext) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  plan.layers = 100;
  plan.kernels = 20;
  plan.kernel_ns = 2'000;
  TrainingPlan loaded = plan, graph;
  loaded.load_ns = 0;
  graph = loaded;
  graph.python_ns = graph.call_ns = 0;
  graph.pause_ns = kGraphSwitchNs;
  const proto::Verdict verdict = VerdictOn(Recorded(plan));
  EXPECT_EQ(Labels(verdict), "dataloader launch_bound ");
  ExpectSteps(verdict, {loaded, graph});
  EXPECT_EQ(verdict.fix_order(0).step_ns(), verdict.new_step_ns());
  EXPECT_EQ(verdict.fix_order(0).saved_ns(), verdict.saved_ns());
  EXPECT_EQ(verdict.interactions_size(), 0) << verdict.interactions(0);
}

TEST(FixOrderTest, NothingWorthItIsNext) {
  TrainingPlan plan, clean;
  plan.load_ns = 40'000'000;
  const proto::Verdict verdict = VerdictOn(Recorded(plan));
  ExpectSteps(verdict, {clean});
}

// The loader hides behind the GPU as soon as nobody waits for that.
TEST(FixOrderTest, ALoaderAndALossThatIsReadDependOnEachOther) {
  TrainingPlan plan;
  plan.load_ns = 18'000'000;
  plan.items_per_step = 1;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "dataloader");
  ASSERT_EQ(verdict.interactions_size(), 1) << verdict.DebugString();
  EXPECT_EQ(verdict.interactions(0),
            "the order matters: Data loading (dataloader) saves 17.86 ms now, and 0 ns once "
            "Host-device synchronization (sync_bound) is gone. "
            "Data loading (dataloader) first, then Host-device synchronization (sync_bound)");
  // Without the reads:
  plan.items_per_step = 0;
  TrainingPlan loaded = plan;
  loaded.load_ns = 0;
  EXPECT_NEAR(Simulated(plan), Simulated(loaded), 0.05 * Simulated(plan));
}

TEST(FixOrderTest, AHealthyProgramHasNone) {
  const proto::Verdict verdict = VerdictOn({});
  EXPECT_EQ(verdict.label(), "compute_bound");
  EXPECT_EQ(verdict.fix_order_size(), 0);
  EXPECT_EQ(verdict.interactions_size(), 0);
}

TEST(FixOrderTest, ALateRankIsAStepOfItsOwn) {
  const RankPlan slow = {.data_wait_ns = 4'000'000};
  RankPlan late = slow;
  late.work_ns = 20'000'000;
  const proto::Verdict verdict =
      BuildReportWithVerdict(RunOfRanks({slow, slow, late, slow}), {}).verdict();
  EXPECT_EQ(Labels(verdict), "straggler dataloader comm_exposed ") << verdict.DebugString();
  ASSERT_EQ(verdict.fix_order_size(), 3);
  EXPECT_EQ(verdict.fix_order(0).place(), "rank 2");
  EXPECT_NEAR(static_cast<double>(verdict.fix_order(0).step_ns()), 15e6, 0.7e6);
  EXPECT_NEAR(static_cast<double>(verdict.fix_order(1).step_ns()), 11e6, 0.8e6);
  EXPECT_NEAR(static_cast<double>(verdict.fix_order(2).step_ns()), 10e6, 0.8e6);
}

// Of two findings between ranks, both may be about the same waits.
TEST(FixOrderTest, OneFindingBetweenRanks) {
  const traceinject::Run run = RunOfRanks({{}, {}, {.work_ns = 14'000'000}, {}});
  RunAnalysis analysis = AnalyzeRun(run, {}, Depth::kCauses);
  RankFindings found = FindBetweenRanks(analysis);
  ASSERT_EQ(found.ranks.findings_size(), 1);
  proto::RankFinding& other = *found.ranks.add_findings();
  other = found.ranks.findings(0);
  other.set_name("pipeline_stages");
  other.set_saved_ns(other.saved_ns() - 1'000'000);
  const Report report = JudgeAndWrite(analysis, found);
  EXPECT_EQ(report.verdict().runner_up().label(), "imbalance");
  EXPECT_EQ(Labels(report.verdict()), "straggler comm_exposed ");
}

}  // namespace
}  // namespace traceinject
