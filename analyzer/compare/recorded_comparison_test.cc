// SPDX-License-Identifier: Apache-2.0
// Comparisons of real recordings in samples/recordings.
#include <gtest/gtest.h>

#include <filesystem>

#include "analyzer/compare/gate/gate.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

Run Load(const std::string& recording) {
  auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/" + recording}, {});
  EXPECT_TRUE(run.ok()) << run.error();
  return run.ok() ? std::move(run).value() : Run();
}

Comparison Compare(const Run& before, const Run& after, const ReportOptions& first = {},
                   const ReportOptions& second = {}) {
  ComparedRun one = PrepareRun(before, first), other = PrepareRun(after, second);
  return CompareRuns(one, other);
}

double PartOf(const Comparison& found, const std::string& name) {
  for (const proto::StepPart& part : found.parts()) {
    if (part.name() == name) return static_cast<double>(part.change().change_ns());
  }
  return 0;
}

// By its own clock the program took 31.2 ms a step after the fix.
TEST(RecordedComparisonTest, ASlowLoaderBeforeAndAfterTheFix) {
  const Comparison found =
      Compare(Load("slow_loader_h200.db.zst"), Load("slow_loader_fixed_h200.db.zst"));
  EXPECT_EQ(found.outcome(), "faster");
  EXPECT_EQ(found.before().verdict(), "dataloader");
  EXPECT_EQ(found.after().verdict(), "compute_bound");
  EXPECT_NEAR(static_cast<double>(found.step_ns().after_ns()), 31.2e6, 0.3e6);
  EXPECT_LT(PartOf(found, "idle: data wait"), -35e6);
  EXPECT_NEAR(PartOf(found, "compute"), 0, 0.2e6);
  bool workers = false;
  for (const proto::SettingChange& setting : found.settings())
    workers |= setting.name() == "num_workers" && setting.before() == "0" && setting.after() == "4";
  EXPECT_TRUE(workers);
}

TEST(RecordedComparisonTest, TheGateFailsWhereTheFixIsLost) {
  const traceinject::Run fixed = Load("slow_loader_fixed_h200.db.zst"),
                         slow = Load("slow_loader_h200.db.zst");
  GateOptions options;
  options.compared = {FindFigure("step_ms"), FindFigure("samples_per_second"),
                      FindFigure("kernels_per_step")};
  ComparedRun run = PrepareRun(slow, {}), baseline = PrepareRun(fixed, {});
  const GateResult result = JudgeRun(run, &baseline, options);
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.conditions(0).outcome(), proto::ConditionResult::OUTCOME_FAILED);
  EXPECT_EQ(result.conditions(1).outcome(), proto::ConditionResult::OUTCOME_FAILED);
  EXPECT_EQ(result.conditions(2).outcome(), proto::ConditionResult::OUTCOME_PASSED);
  EXPECT_NE(result.cause().find("idle: data wait +37."), std::string::npos) << result.cause();
  EXPECT_NE(result.cause().find("num_workers 4 -> 0"), std::string::npos) << result.cause();
  EXPECT_TRUE(JudgeRun(baseline, &run, options).passed());
}

TEST(RecordedComparisonTest, ManyRanksWithThemselves) {
  const traceinject::Run run = Load("ddp_h200");
  const Comparison found = Compare(run, run);
  EXPECT_EQ(found.outcome(), "no difference");
  EXPECT_NE(found.conclusion().find("the same recording"), std::string::npos);
  EXPECT_EQ(found.before().processes(), 2);
  EXPECT_EQ(found.kernels().rows_size(), 0);
  EXPECT_EQ(found.settings_size(), 0);
  for (const proto::CollectiveChange& row : found.collectives())
    EXPECT_EQ(row.kernel_before_ns(), row.kernel_after_ns());
}

// Traces of torch.profiler, beside the source tree where they are at all.
TEST(RecordedComparisonTest, TracesOfTheProfiler) {
  const std::string folder = std::string(TRACEINJECT_PUBLIC_TRACES) + "/kineto_resnet50/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto load = [&](const char* name) { return LoadRun({folder + name}, {}); };
  auto before = load("nw0_a.json.gz"), after = load("nw4_a.json.gz");
  ASSERT_TRUE(before.ok() && after.ok());
  const Comparison found = Compare(before.value(), after.value());
  EXPECT_EQ(found.outcome(), "faster");
  EXPECT_LT(PartOf(found, "idle: data wait"), -50e6);
  ASSERT_GT(found.cautions_size(), 0);
  EXPECT_NE(found.cautions(0).find("only 6 steps"), std::string::npos);
  EXPECT_GT(found.kernels().rows(0).grid_size(), 0);
}

// Two halves of one run are as two runs of one program.
TEST(RecordedComparisonTest, HalvesOfOneRunDoNotDiffer) {
  for (const char* name : {"ddp_h200", "transformer_h200.db.zst", "straggler_gemm_h200"}) {
    const traceinject::Run run = Load(name);
    ReportOptions first, second;
    // As the program numbers them, from the third and the eighteenth step on.
    const std::int64_t from = BuildReportWithSteps(run, {}).steps(0).first();
    first.steps = StepChoice{from + 2, from + 16};
    second.steps = StepChoice{from + 17, from + 31};
    const Comparison found = Compare(run, run, first, second);
    EXPECT_TRUE(found.outcome() == "no difference" || found.outcome() == "negligible")
        << name << ": " << found.conclusion();
    EXPECT_GE(found.before().steps(), 10) << name;
    EXPECT_GE(found.after().steps(), 10) << name;
  }
}

}  // namespace
}  // namespace traceinject
