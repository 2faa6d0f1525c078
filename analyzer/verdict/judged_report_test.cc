// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/judged_report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/verdict/savings/savings.h"
#include "analyzer/verdict/testing/judge_and_write.h"
#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

TEST(VerdictTest, BusyGpuIsHealthy) {
  for (const TimeNs kernel_ns : {100'000, 250'000, 2'000'000}) {
    TrainingPlan plan;
    plan.kernel_ns = kernel_ns;
    plan.items_per_step = 1;
    const proto::Verdict verdict = VerdictOn(plan);
    EXPECT_EQ(verdict.label(), "compute_bound") << kernel_ns << verdict.abstained();
    EXPECT_FALSE(verdict.has_saved_ns());
    EXPECT_GT(verdict.confidence(), 0.9);
  }
}

TEST(VerdictTest, TheRankThatWaitsLeastIsJudged) {
  TrainingPlan late, early;
  late.load_ns = 25'000'000;
  late.communication_ns = 1'000'000;
  early.communication_ns = 20'000'000;  // waits for the other
  traceinject::Run run;
  run.ranks = {SimulatedTraining(early).rank(), SimulatedTraining(late).rank()};
  run.ranks[0].rank = 0;
  run.ranks[1].rank = 1;
  const Report report = BuildReportWithVerdict(run, {});
  EXPECT_EQ(report.verdict().label(), "dataloader");
  EXPECT_EQ(report.verdict().device(), "rank 1 GPU 0");
  EXPECT_EQ(report.steps_size(), 2);
}

TEST(VerdictTest, AReportCanBeBrokenOff) {
  using Clock = std::chrono::steady_clock;
  TrainingPlan planted;
  planted.load_ns = 25'000'000;
  planted.steps = 400;
  const traceinject::Run run = RunOf(SimulatedTraining(planted).rank());
  const Clock::time_point begun = Clock::now();
  const std::string label = BuildReportWithVerdict(run, {}).verdict().label();
  const Clock::duration whole = Clock::now() - begun;
  for (int eighths = 0; eighths < 8; ++eighths) {
    std::atomic<bool> stop = eighths == 0;
    const std::jthread stopping([&] {
      std::this_thread::sleep_for(whole * eighths / 8);
      stop = true;
    });
    ReportOptions options;
    options.stop = &stop;
    const Report report = BuildReportWithVerdict(run, options);
    EXPECT_TRUE(report.verdict().label().empty() || report.verdict().label() == label);
    if (eighths == 0) {
      EXPECT_EQ(report.devices_size(), 0);
    }
  }
}

TEST(VerdictTest, EachPartOfTheVerdictCanBeBrokenOff) {
  const traceinject::Run run = RunOf(SimulatedTraining(TrainingPlan{}).rank());
  const std::atomic<bool> stop = true;
  ReportOptions options;
  options.stop = &stop;
  RunAnalysis analysis = AnalyzeRun(run, {}, Depth::kCauses);
  analysis.options = options;
  EXPECT_EQ(JudgeAndWrite(analysis, {}).verdict().label(), "");
  EXPECT_TRUE(AnalyzeRun(run, options, Depth::kCauses).devices.empty());
  const DeviceAnalysis& judged = analysis.devices.front();
  EXPECT_FALSE(judged.causes.steps.empty());
  EXPECT_FALSE(FindSavings(judged).causes.empty());
  EXPECT_TRUE(FindSavings(judged, &stop).causes.empty());
}

// The window is withheld, too: the verdict has to know it all the same.
TEST(VerdictTest, AClockThatWasSetIsTheReason) {
  traceinject::Run run = RunOf(SimulatedTraining(TrainingPlan{}).rank());
  run.ranks[0].trust.clock_steps.push_back({run.ranks[0].start, 5'000'000'000, false});
  const Report report = BuildReportWithVerdict(run, {});
  EXPECT_FALSE(report.devices(0).has_window());
  EXPECT_NE(report.verdict().abstained().find("the system clock was set"), std::string::npos)
      << report.verdict().abstained();
}

}  // namespace
}  // namespace traceinject
