// SPDX-License-Identifier: Apache-2.0
// What a recorder adds to the launches is no time of the program.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/metrics/replay.h"
#include "analyzer/verdict/simulated_verdict.h"

namespace traceinject {
namespace {

// A recorder that takes a third of the step: the label is right, but less sure.
TEST(RecordedTimeVerdictTest, HeavyRecordingLowersConfidence) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 20;
  plan.kernel_ns = 1'500;
  plan.python_ns = 2'000;
  plan.call_ns = 2'000;
  plan.latency_ns = 1'000;
  plan.recorder_ns = kRecordedLaunchNs;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_GT(static_cast<double>(verdict.recording_ns()),
            0.3 * static_cast<double>(verdict.step_ns()));
  EXPECT_LT(verdict.confidence(), 0.7);
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
  TrainingPlan recorded = unrecorded;
  recorded.recorder_ns = kRecordedLaunchNs;
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
  TrainingPlan recorded = unrecorded;
  recorded.recorder_ns = kRecordedLaunchNs;
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
}

}  // namespace
}  // namespace traceinject
