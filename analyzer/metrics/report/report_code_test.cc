// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/report_code.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr char kTrainer[] = "/usr/lib/python3/dist-packages/transformers/trainer.py";

// Kernels that are launched at these stacks in turn.
traceinject::Run RunOf(const std::vector<std::vector<RankBuilder::Frame>>& stacks) {
  RankBuilder builder;
  std::vector<std::uint32_t> added;
  for (const auto& frames : stacks) added.push_back(builder.AddStack(frames));
  for (std::size_t i = 0; i < 60; ++i) {
    const TimeNs start = static_cast<TimeNs>(i) * kMs;
    const auto launch = builder.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder.AddKernel(start + 10'000, start + 400'000, "gemm", launch);
    builder.AddLook(start, added[i % added.size()], StackKind::kLaunch,
                    builder.rank().api.correlation[launch]);
  }
  traceinject::Run run;
  run.ranks.push_back(std::move(builder.rank()));
  return run;
}

std::string Notes(const Report& report) {
  std::string notes;
  for (const std::string& note : report.notes()) notes += note + "\n";
  return notes;
}

TEST(ReportCode, TellsWhatIsBeneathALineThatHasNearlyAll) {
  const RankBuilder::Frame main = {"main", "/w/train.py", 60};
  const auto run = RunOf({{main, {"train", kTrainer, 2450}},
                          {main, {"train", kTrainer, 2450}},
                          {main, {"train", kTrainer, 2500}}});
  const std::string notes = Notes(BuildReportWithCode(run, {}, CodeGrouping::kLine));
  EXPECT_NE(notes.find("one line has 100 % of the kernel time; in the libraries most of it is at "
                       "train.py:60 in main -> transformers/trainer.py:2450 in train"),
            std::string::npos)
      << notes;
}

TEST(ReportCode, TellsNothingMoreOfFineLines) {
  const auto run = RunOf({{{"main", "/w/train.py", 60}, {"train", kTrainer, 2450}},
                          {{"main", "/w/train.py", 61}, {"train", kTrainer, 2500}}});
  EXPECT_EQ(Notes(BuildReportWithCode(run, {}, CodeGrouping::kLine)).find("one line"),
            std::string::npos);
}

TEST(ReportCode, ModulesAreTheSameFromAnyAnalysis) {
  const auto run = RunOf({{{"main", "/w/train.py", 60}, {"call", kTrainer, 5, "Net.fc"}},
                          {{"main", "/w/train.py", 61}}});
  const RunAnalysis of_lines = AnalyzeRun(run, {}, Depth::kCauses);
  const Report modules = BuildReportWithCode(run, {}, CodeGrouping::kModules);
  ASSERT_EQ(modules.devices(0).code_size(), 2);
  EXPECT_EQ(modules.SerializeAsString(),
            WriteReportWithCode(of_lines, CodeGrouping::kModules).SerializeAsString());
}

}  // namespace
}  // namespace traceinject
