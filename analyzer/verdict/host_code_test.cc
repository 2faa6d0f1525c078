// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/host_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "analyzer/verdict/code/code_levers.h"
#include "analyzer/verdict/testing/simulated_verdict.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr TimeNs kMs = 1'000'000;
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

}  // namespace
}  // namespace traceinject
