// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/page_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "analyzer/html/page/escape.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/ranks/match/align_run.h"
#include "analyzer/verdict/testing/analyzed_device.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

// All that a timeline adds to a page, its script included.
constexpr std::size_t kMostOfPage = 300'000;

struct TimelineInPage {
  PageTimeline timeline;
  std::size_t bytes = 0;
};

TimelineInPage MakeInPage(const Run& run, const JudgedReport& found) {
  TimelineInPage made{MakePageTimeline(run, found, "run.db")};
  made.bytes = WriteHtml(found.report, found.ranks, made.timeline).size() -
               WriteHtml(found.report, found.ranks, {}).size();
  return made;
}

TimelineInPage MakeInPage(const Run& run) {
  return MakeInPage(run, BuildJudgedReport(run, ForPage({})));
}

// No verdict: that would take most of the time.
TimelineInPage MakeOfSteps(const Run& run) {
  const GpuOps& ops = run.ranks[0].devices[0].ops;
  JudgedReport found;
  found.judged = std::make_shared<const DeviceAnalysis>(
      AnalyzedDevice(run.ranks[0], {ops.start.front(), ops.end.back()}));
  return MakeInPage(run, found);
}

Run LoadAligned(const std::filesystem::path& path) {
  auto loaded = LoadRun({path.string()}, {});
  if (!loaded.ok()) throw std::runtime_error(loaded.error());
  Run run = std::move(loaded).value();
  AlignRun(run);
  return run;
}

Run Simulated(const TrainingPlan& plan) {
  Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  return run;
}

TEST(PageTimeline, StaysSmallForEveryShippedRecording) {
  std::size_t pages = 0, largest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TRACEINJECT_RECORDINGS)) {
    if (entry.path().extension() == ".md") continue;
    const TimelineInPage made = MakeInPage(LoadAligned(entry.path()));
    EXPECT_FALSE(made.timeline.empty()) << entry.path();
    EXPECT_LE(made.bytes, kMostOfPage) << entry.path();
    largest = std::max(largest, made.bytes);
    ++pages;
  }
  EXPECT_GT(pages, 4u);
  EXPECT_GT(largest, 150'000u) << "and is as fine as that allows";
}

TEST(PageTimeline, StaysSmallWithVeryManyKernels) {
  TrainingPlan plan;
  plan.steps = 4;
  plan.layers = 3'000;
  plan.kernels = 100;  // 300,000 a step
  plan.kernel_ns = 2'000;
  const traceinject::Run run = Simulated(plan);
  const TimelineInPage made = MakeOfSteps(run);
  EXPECT_GE(made.timeline.excerpt.events, 900'000u);
  EXPECT_LE(made.bytes, kMostOfPage);
  EXPECT_LE(Escaped(made.timeline.data).size(), kMaxTimelineData);
  EXPECT_GT(made.timeline.data.size(), kMaxTimelineData / 2) << "and is as fine as that allows";
}

TEST(PageTimeline, StaysSmallWhateverNamesAre) {
  TrainingPlan plan;
  plan.steps = 6;
  for (int i = 0; i < 400; ++i)
    plan.layer.push_back({std::string(3'000, '"') + std::to_string(i), 20'000});
  plan.layers = 3;
  const traceinject::Run run = Simulated(plan);
  const TimelineInPage made = MakeOfSteps(run);
  EXPECT_FALSE(made.timeline.empty());
  EXPECT_LE(made.bytes, kMostOfPage);
}

}  // namespace
}  // namespace traceinject
