// SPDX-License-Identifier: Apache-2.0
// What a recorder adds to the launches is no time of the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/metrics/cost/recorder_cost.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// A recorder that takes a fifth of the step: the label is right, but less sure.
TEST(RecordedTimeVerdictTest, HeavyRecordingLowersConfidence) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 20;
  plan.kernel_ns = 1'500;
  plan.python_ns = 1'000;
  plan.call_ns = 5'000;
  plan.latency_ns = 1'000;
  plan = Recorded(plan);
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_GT(static_cast<double>(verdict.recording_ns()),
            0.2 * static_cast<double>(verdict.step_ns()));
  EXPECT_LT(verdict.confidence(), 0.8);
  ASSERT_GE(verdict.caveats_size(), 1);
  EXPECT_NE(verdict.caveats(0).find("TRACEINJECT_AB=steps"), std::string::npos);
}

// What is saved is time of the program that nobody records.
TEST(RecordedTimeVerdictTest, WhatRecordingAddsIsNotSaved) {
  TrainingPlan unrecorded;
  unrecorded.layers = 100;
  unrecorded.kernels = 20;
  unrecorded.kernel_ns = 2'000;
  unrecorded.python_ns = 6'000;
  const TrainingPlan recorded = Recorded(unrecorded);
  TrainingPlan graph = unrecorded;
  graph.python_ns = graph.call_ns = 0;
  const double now = SimulatedTraining(unrecorded).step_ns();
  const double then = SimulatedTraining(graph).step_ns();
  const proto::Verdict verdict = VerdictOn(recorded);
  EXPECT_EQ(verdict.label(), "launch_bound");
  EXPECT_NEAR(static_cast<double>(verdict.step_ns()), SimulatedTraining(recorded).step_ns(),
              0.03 * now);
  EXPECT_NEAR(static_cast<double>(verdict.step_ns() - verdict.recording_ns()), now, 0.03 * now);
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), now - then, 0.1 * now);
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns()), then, 0.1 * now);
}

// Each launch comes just before the kernel before it ends, and the GPU waits for nothing but the
// way of the launch: work that came all at once would not let it wait.
TEST(RecordedTimeVerdictTest, LaunchesThatComeAsFastAsTheirLatency) {
  TrainingPlan unrecorded;
  unrecorded.layers = 100;
  unrecorded.kernels = 20;
  unrecorded.kernel_ns = 1'500;
  unrecorded.python_ns = unrecorded.call_ns = 2'000;
  unrecorded.latency_ns = 5'000;
  const TrainingPlan recorded = Recorded(unrecorded);
  TrainingPlan graph = unrecorded;
  graph.python_ns = graph.call_ns = 0;
  graph.pause_ns = kGraphSwitchNs;
  const double now = SimulatedTraining(unrecorded).step_ns();
  const double then = SimulatedTraining(graph).step_ns();
  const proto::Verdict verdict = VerdictOn(recorded);
  EXPECT_EQ(verdict.label(), "launch_bound") << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), now - then, 0.1 * now);
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns()), then, 0.1 * now);
}

// Nobody knows to the nanosecond what recording adds: what is saved is not known better than that.
TEST(RecordedTimeVerdictTest, WhatRecordingAddsMayBeMoreOrLess) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 20;
  plan.kernel_ns = 2'000;
  plan.python_ns = 6'000;
  plan = Recorded(plan);
  const proto::Verdict verdict = VerdictOn(plan);
  ASSERT_EQ(verdict.label(), "launch_bound");
  EXPECT_FALSE(verdict.recording_measured());
  const auto added = static_cast<double>(verdict.recording_ns());
  EXPECT_NEAR(static_cast<double>(verdict.recording_low_ns()),
              added * kMinRecordedShare / kRecordedShare, 0.02 * added);
  EXPECT_NEAR(static_cast<double>(verdict.recording_high_ns()),
              added * kMaxRecordedShare / kRecordedShare, 0.02 * added);
  EXPECT_NEAR(static_cast<double>(verdict.resident_ns()), added * kResidentShare / kRecordedShare,
              0.02 * added);
  EXPECT_LE(verdict.saved_low_ns(),
            verdict.saved_ns() - (verdict.recording_high_ns() - verdict.recording_ns()) * 9 / 10);
  EXPECT_GE(verdict.saved_high_ns(),
            verdict.saved_ns() + (verdict.recording_ns() - verdict.recording_low_ns()) * 9 / 10);
}

// Blocks of steps that take as long unrecorded, alternately: only what stays in both is taken off.
TEST(RecordedTimeVerdictTest, WhatWasMeasuredByTurnsIsTaken) {
  TrainingPlan plan;
  plan.steps = 100;
  plan.layers = 20;
  plan.kernels = 20;
  plan.kernel_ns = 2'000;
  plan.python_ns = 6'000;
  plan = Recorded(plan);
  SimulatedTraining training(plan);
  const proto::Verdict without = BuildReportWithVerdict(RunOf(training.rank()), {}).verdict();
  const std::vector<TimeNs>& marks = training.rank().step_marks.time;
  for (std::size_t step = 10; step + 10 < marks.size(); step += 20)
    training.rank().gaps.push_back({marks[step] + 1'000, marks[step + 10] + 1'000, "window"});
  const proto::Report report = BuildReportWithVerdict(RunOf(training.rank()), {});
  const proto::Verdict& verdict = report.verdict();
  ASSERT_TRUE(report.recording_costs().empty() || report.recording_costs(0).has_ab());
  EXPECT_TRUE(verdict.recording_measured());
  EXPECT_GT(without.recording_ns(), 0);
  const auto told = static_cast<double>(without.recording_ns());
  EXPECT_NEAR(static_cast<double>(verdict.recording_ns()), told * kResidentShare / kRecordedShare,
              0.02 * told);
  EXPECT_LT(verdict.recording_high_ns() - verdict.recording_low_ns(),
            without.recording_high_ns() - without.recording_low_ns());
}

// Kernels alone (TRACEINJECT_KINDS=kernel): zero would be a claim.
TEST(RecordedTimeVerdictTest, NothingIsSaidWithoutCalls) {
  TrainingPlan plan;
  SimulatedTraining training(plan);
  training.rank().api = {};
  for (Device& device : training.rank().devices)
    std::fill(device.ops.launch.begin(), device.ops.launch.end(), kNone);
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(training.rank()), {}).verdict();
  EXPECT_GT(verdict.step_ns(), 0);
  EXPECT_FALSE(verdict.has_recording_ns());
  EXPECT_FALSE(verdict.has_recording_low_ns());
  EXPECT_FALSE(verdict.has_recording_high_ns());
  EXPECT_FALSE(verdict.has_resident_ns());
}

// The recorder of another tool has costs of its own.
TEST(RecordedTimeVerdictTest, NothingIsTakenOffAnImportedTrace) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 20;
  plan.kernel_ns = 2'000;
  SimulatedTraining training(plan);
  training.rank().imported_from = "a PyTorch profiler trace";
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(training.rank()), {}).verdict();
  EXPECT_EQ(verdict.label(), "launch_bound");
  EXPECT_EQ(verdict.recording_ns(), 0);
  EXPECT_EQ(verdict.recording_high_ns(), 0);
}

}  // namespace
}  // namespace traceinject
