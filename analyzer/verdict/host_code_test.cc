// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/host_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "analyzer/model/testing/units.h"
#include "analyzer/verdict/code/code_levers.h"
#include "analyzer/verdict/testing/simulated_verdict.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr char kNumpy[] = "/usr/lib/python3.11/site-packages/numpy/random/mtrand.py";

// Looks at the main thread, every 10 ms or so: at the slow line where it made no call for long, at
// one of ten others elsewhere.
void AddLooks(Rank& rank, unsigned seed = 1) {
  RankBuilder builder;
  builder.rank() = std::move(rank);
  const auto slow = builder.AddStack(
      {{"main", "/w/train.py", 90}, {"load_batch", "/w/train.py", 41}, {"random", kNumpy, 3}});
  std::vector<std::uint32_t> others;
  for (int line = 0; line < 10; ++line)
    others.push_back(
        builder.AddStack({{"main", "/w/train.py", 90}, {"step", "/w/train.py", line}}));
  std::mt19937 random(seed);
  std::uniform_int_distribution<TimeNs> jitter(0, 10 * kMs - 1);
  const ApiCalls& api = builder.rank().api;
  std::size_t call = 0;
  for (TimeNs slot = 0; slot < builder.rank().end; slot += 10 * kMs) {
    const TimeNs at = slot + jitter(random);
    while (call + 1 < api.size() && api.start[call] <= at) ++call;
    const TimeNs before = call == 0 ? 0 : api.end[call - 1];
    const bool is_long = api.start[call] - before > 5 * kMs;
    builder.AddLook(at, is_long ? slow : others[random() % others.size()]);
  }
  rank = std::move(builder.rank());
}

proto::Verdict VerdictWithLooks(const TrainingPlan& plan, unsigned seed = 1) {
  Rank rank = SimulatedTraining(plan).rank();
  AddLooks(rank, seed);
  return BuildReportWithVerdict(RunOf(std::move(rank)), {}).verdict();
}

TEST(HostCodeTest, ALineThatNothingElseReports) {
  TrainingPlan plan;
  plan.load_ns = 40 * kMs;
  plan.record_loading = false;
  EXPECT_EQ(VerdictOn(plan).label(), "inconclusive");
  const proto::Verdict verdict = VerdictWithLooks(plan);
  EXPECT_EQ(verdict.label(), "host_code");
  ASSERT_GE(verdict.code_size(), 1);
  const proto::CodeLine& line = verdict.code(0);
  EXPECT_EQ(line.place(), "train.py:41 in load_batch");
  EXPECT_EQ(line.library(), "random of numpy/random/mtrand.py");
  EXPECT_LE(line.low_ns(), line.ns());
  EXPECT_GT(static_cast<double>(line.ns()), 0.8 * static_cast<double>(verdict.code_of_ns()));
  EXPECT_NE(verdict.evidence(0).text().find("train.py:41 in load_batch"), std::string::npos);
  ASSERT_GE(verdict.levers_size(), 1);
  EXPECT_NE(verdict.levers(0).setting().find("train.py:41"), std::string::npos);
  EXPECT_NE(verdict.levers(0).change().find("NumPy"), std::string::npos);
}

TEST(HostCodeTest, TheLineIsFirstForAnySeed) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    TrainingPlan plan;
    plan.load_ns = 40 * kMs;
    plan.record_loading = false;
    const proto::Verdict verdict = VerdictWithLooks(plan, seed);
    EXPECT_EQ(verdict.label(), "host_code") << seed;
    ASSERT_GE(verdict.code_size(), 1) << seed;
    EXPECT_EQ(verdict.code(0).line(), 41) << seed;
  }
}

TEST(HostCodeTest, LaunchingStaysLaunching) {
  TrainingPlan plan;
  plan.python_ns = 400'000;
  const proto::Verdict verdict = VerdictWithLooks(plan);
  EXPECT_EQ(verdict.label(), "launch_bound");
  ASSERT_GE(verdict.code_size(), 1);
}

TEST(HostCodeTest, OtherLabelsNameLinesToo) {
  TrainingPlan plan;
  plan.load_ns = 40 * kMs;
  const proto::Verdict verdict = VerdictWithLooks(plan);
  EXPECT_EQ(verdict.label(), "dataloader");
  ASSERT_GE(verdict.code_size(), 1);
  EXPECT_EQ(verdict.code(0).line(), 41);
  EXPECT_NE(verdict.evidence(1).text().find("train.py:41"), std::string::npos);
}

TEST(HostCodeTest, LeversOfTheText) {
  TemporaryFolder folder;
  const std::string path = folder / "train.py";
  std::ofstream(path) << "import time\nfor batch in data:\n    time.sleep(0.1)  # wait\n";
  proto::Verdict verdict;
  verdict.set_label(std::string(kHostCodeLabel));
  proto::CodeLine& line = *verdict.add_code();
  line.set_file(path);
  line.set_line(3);
  line.set_place("train.py:3");
  AddCodeLevers(std::int64_t{1} << 62, verdict);
  ASSERT_EQ(verdict.levers_size(), 1);
  EXPECT_EQ(verdict.levers(0).setting(), "train.py:3 `time.sleep(0.1)  # wait`");
  EXPECT_NE(verdict.levers(0).change().find("sleeps"), std::string::npos);
  verdict.clear_levers();
  AddCodeLevers(0, verdict);  // it may have been another file then
  EXPECT_EQ(verdict.levers(0).setting(), "train.py:3");
}

TEST(HostCodeTest, LeversOfLinesUnderOtherLabels) {
  TemporaryFolder folder;
  const std::string path = folder / "train.py";
  std::ofstream(path) << "x = inp.view(2).log()\ny = np.sort(x)\ntotal += loss.item()\n";
  const auto levers = [&](const char* label, int number) {
    proto::Verdict verdict;
    verdict.set_label(label);
    verdict.add_levers()->set_setting("what is known of the label");
    proto::CodeLine& line = *verdict.add_code();
    line.set_file(path);
    line.set_line(number);
    AddCodeLevers(std::int64_t{1} << 62, verdict);
    EXPECT_EQ(verdict.levers(verdict.levers_size() - 1).setting(), "what is known of the label");
    return verdict.levers_size() == 1 ? std::string() : verdict.levers(0).change();
  };
  EXPECT_EQ(levers("sync_bound", 1), "") << "neither NumPy nor logging";
  EXPECT_NE(levers("launch_bound", 2).find("NumPy"), std::string::npos);
  EXPECT_NE(levers("dataloader", 2).find("make it once"), std::string::npos);
  EXPECT_NE(levers("sync_bound", 3).find("fetch it every N steps"), std::string::npos);
  EXPECT_EQ(levers("dataloader", 3), "");
  EXPECT_EQ(levers("inefficient_gemm", 3), "") << "it launched kernels";
}

// One step of 100 ms, launches late by 60 ms of it, of which some lie in long stretches at one
// line, and a thread that launches and could have run longer than it did.
class UnscheduledTest : public testing::Test {
 protected:
  UnscheduledTest() {
    figures_.rank = &rank_;
    figures_.timeline.feeders = {true};
    figures_.times = {{0, 100 * kMs}};
    figures_.places.emplace();
    figures_.places->idle[static_cast<std::size_t>(IdleCause::kPython)].total_ns = 60 * kMs;
    savings_.step_ns = 100 * kMs;
  }

  void Stretches(TimeNs ns) {
    TimeByPlace& stretches = figures_.places->stretches;
    stretches.total_ns = ns;
    stretches.looks = 100;
    stretches.places.resize(1);
    stretches.places[0].ns = static_cast<double>(ns);
  }
  void HasNoProcessorFor(TimeNs ns) {
    HostSamples& samples = rank_.host_samples;
    for (const TimeNs time : {TimeNs{0}, 100 * kMs}) {
      samples.time.push_back(time);
      samples.thread.push_back(0);
      samples.cpu_ns.push_back(0);
      samples.runqueue_ns.push_back(time == 0 ? 0 : ns);
    }
  }
  void Saves(std::string_view label, double ms) {
    CauseSaving saving;
    saving.label = label;
    saving.saved_ns = ms * static_cast<double>(kMs);
    saving.low_ns = 0.5 * saving.saved_ns;
    saving.high_ns = 2 * saving.saved_ns;
    saving.resampled = {saving.saved_ns};
    savings_.causes.push_back(saving);
  }
  std::string First() {
    NameHostCode(figures_, savings_);
    return std::string(savings_.causes[0].label);
  }

  Rank rank_;
  DeviceFigures figures_;
  Savings savings_;
};

TEST_F(UnscheduledTest, LongStretchesAreCode) {
  Saves("launch_bound", 50);
  Stretches(40 * kMs);
  EXPECT_EQ(First(), "host_code");
}

TEST_F(UnscheduledTest, UnlessTheyComeOfThreadsWithoutAProcessor) {
  Saves("launch_bound", 50);
  Stretches(40 * kMs);
  HasNoProcessorFor(80 * kMs);
  EXPECT_EQ(First(), "launch_bound");
}

TEST_F(UnscheduledTest, MoreOfThemAreCodeAllTheSame) {
  Saves("launch_bound", 50);
  Stretches(55 * kMs);
  HasNoProcessorFor(80 * kMs);
  EXPECT_EQ(First(), "host_code");
}

TEST_F(UnscheduledTest, WhatNothingExplainsIsLaunching) {
  Saves("host_wait", 20);
  Saves("launch_bound", 15);
  HasNoProcessorFor(11 * kMs);
  EXPECT_EQ(First(), "launch_bound");
  ASSERT_EQ(savings_.causes.size(), 1U);
  EXPECT_DOUBLE_EQ(savings_.causes[0].saved_ns, 35 * kMs);
  EXPECT_DOUBLE_EQ(savings_.causes[0].low_ns, 17.5 * kMs);
  EXPECT_DOUBLE_EQ(savings_.causes[0].high_ns, 70 * kMs);
  EXPECT_DOUBLE_EQ(savings_.causes[0].resampled.at(0), 35 * kMs);
}

TEST_F(UnscheduledTest, AlsoWhereLaunchingIsNoCause) {
  Saves("host_wait", 20);
  HasNoProcessorFor(11 * kMs);
  EXPECT_EQ(First(), "launch_bound");
}

TEST_F(UnscheduledTest, ButNotWhereThreadsHadTheirProcessors) {
  Saves("host_wait", 20);
  Saves("launch_bound", 15);
  HasNoProcessorFor(9 * kMs);
  EXPECT_EQ(First(), "host_wait");
}

TEST(HostCodeTest, ThreadsWithoutAProcessorAreTold) {
  TrainingPlan plan;
  plan.load_ns = 40 * kMs;
  plan.record_loading = false;
  Rank rank = SimulatedTraining(plan).rank();
  const TimeNs end = rank.end;
  for (const TimeNs time : {TimeNs{0}, end}) {
    rank.host_samples.time.push_back(time);
    rank.host_samples.thread.push_back(rank.api.thread[0]);
    rank.host_samples.cpu_ns.push_back(0);
    rank.host_samples.runqueue_ns.push_back(time / 2);
    for (auto* column :
         {&rank.host_samples.minor_faults, &rank.host_samples.major_faults,
          &rank.host_samples.voluntary_switches, &rank.host_samples.involuntary_switches})
      column->push_back(-1);
  }
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(std::move(rank)), {}).verdict();
  EXPECT_EQ(verdict.label(), "launch_bound") << verdict.abstained();
  EXPECT_NE(verdict.evidence(0).text().find("had no processor for"), std::string::npos)
      << verdict.evidence(0).text();
  EXPECT_NE(verdict.evidence(0).text().find("(50.0 %)"), std::string::npos);
  ASSERT_GE(verdict.levers_size(), 1);
  EXPECT_EQ(verdict.levers(0).setting(), "processors for the threads that launch");
}

}  // namespace
}  // namespace traceinject
