// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_verdict.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "analyzer/metrics/replay.h"
#include "analyzer/verdict/savings.h"
#include "analyzer/verdict/simulated_training.h"

namespace traceinject {
namespace {

traceinject::Run RunOf(Rank rank) {
  traceinject::Run run;
  run.ranks = {std::move(rank)};
  return run;
}

proto::Verdict VerdictOn(const TrainingPlan& plan) {
  return BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {}).verdict();
}

// The label, and the saving against the same program without the cause.
void ExpectPlanted(const std::string& label, const TrainingPlan& planted,
                   const TrainingPlan& clean) {
  const double now = SimulatedTraining(planted).step_ns();
  const double then = SimulatedTraining(clean).step_ns();
  ASSERT_GE(now - then, 0.2 * now) << "the planted cause is too weak to be a test";
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_EQ(verdict.label(), label) << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.step_ns()), now, 0.03 * now);
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), now - then, 0.1 * now);
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns()), then, 0.1 * now);
  EXPECT_LE(verdict.saved_low_ns(), verdict.saved_ns());
  EXPECT_GE(verdict.saved_high_ns(), verdict.saved_ns());
  EXPECT_GT(verdict.confidence(), 0.5);
  EXPECT_LT(verdict.replay_error(), 0.02);
  EXPECT_GE(verdict.evidence_size(), 3);
  EXPECT_LE(verdict.evidence_size(), 5);
  EXPECT_GE(verdict.levers_size(), 1);
}

TEST(VerdictTest, SlowDataLoader) {
  TrainingPlan planted;
  planted.load_ns = 25'000'000;
  ExpectPlanted("dataloader", planted, {});
}

TEST(VerdictTest, SlowDataLoaderBehindALossThatIsRead) {
  TrainingPlan planted, clean;
  planted.load_ns = 25'000'000;
  planted.items_per_step = clean.items_per_step = 1;
  ExpectPlanted("dataloader", planted, clean);
}

// The host runs ahead of the GPU while it loads, so only what sticks out is saved.
TEST(VerdictTest, PartlyHiddenDataLoader) {
  TrainingPlan planted;
  planted.load_ns = 28'000'000;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_LT(verdict.saved_ns(), 14'000'000);
  EXPECT_EQ(verdict.label(), "dataloader");
}

TEST(VerdictTest, PageableCopy) {
  TrainingPlan planted, clean;
  planted.upload_bytes = clean.upload_bytes = 100'000'000;
  clean.pinned = true;
  ExpectPlanted("h2d_copy", planted, clean);
}

// Kernels as long as two launches: enough to run ahead, were it not for the waits.
TEST(VerdictTest, ItemPerLayer) {
  TrainingPlan planted;
  planted.layers = 120;
  planted.kernels = 2;
  planted.kernel_ns = 25'000;
  TrainingPlan clean = planted;
  planted.items_per_step = planted.layers;
  ExpectPlanted("sync_bound", planted, clean);
}

TEST(VerdictTest, EmptyCacheEachStep) {
  TrainingPlan planted;
  planted.allocations_per_step = 10;
  planted.free_ns = 500'000;
  planted.malloc_ns = 400'000;
  ExpectPlanted("allocator", planted, {});
}

// From pinned memory, but in turn with the kernels: a copy a step ahead takes none of their time.
TEST(VerdictTest, PinnedCopyThatNothingOverlaps) {
  TrainingPlan planted;
  planted.upload_bytes = 500'000'000;
  planted.pinned = true;
  ExpectPlanted("h2d_copy", planted, {});
  const proto::Verdict verdict = VerdictOn(planted);
  ASSERT_EQ(verdict.levers_size(), 1);
  EXPECT_EQ(verdict.levers(0).setting(), "copy the next batch on a stream of its own");
}

// The link cannot copy more in a step than it takes.
TEST(VerdictTest, PinnedCopiesLongerThanTheStep) {
  TrainingPlan planted;
  planted.upload_bytes = 1'512'000'000;  // 30 ms beside 20 ms of kernels
  planted.pinned = true;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_EQ(verdict.label(), "h2d_copy") << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns()), 30'000'000, 1'000'000);
}

TEST(VerdictTest, CheckpointEveryTenSteps) {
  TrainingPlan planted;
  planted.checkpoint_every = 10;
  planted.checkpoint_ns = 90'000'000;
  ExpectPlanted("checkpoint", planted, {});
}

// Whether the recording ends just before or just after a checkpoint.
TEST(VerdictTest, CheckpointsCountInWholePeriods) {
  TrainingPlan before, after;
  before.checkpoint_every = after.checkpoint_every = 10;
  before.checkpoint_ns = after.checkpoint_ns = 300'000'000;
  before.steps = 36;
  after.steps = 37;
  const auto saved = static_cast<double>(VerdictOn(before).saved_ns());
  EXPECT_NEAR(saved, static_cast<double>(VerdictOn(after).saved_ns()), 0.03 * saved);
  EXPECT_NEAR(saved, 29'500'000, 1'000'000);  // less what the GPU still had to do
}

TEST(VerdictTest, GarbageCollections) {
  TrainingPlan planted, clean;
  planted.items_per_step = clean.items_per_step = 1;
  planted.collect_every = 4;
  planted.collect_ns = 60'000'000;
  ExpectPlanted("gc_pause", planted, clean);
}

// A recorder that takes a third of the step: the label is right, but less sure.
TEST(VerdictTest, HeavyRecordingLowersConfidence) {
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

// Three pauses at one distance, in one spell: the steps before and after it count, too.
TEST(VerdictTest, CollectionsOfOneSpellAreOverAllSteps) {
  TrainingPlan planted;
  planted.steps = 60;
  planted.items_per_step = 1;
  planted.collect_in = {30, 34, 38};
  planted.collect_ns = 60'000'000;
  const double now = SimulatedTraining(planted).step_ns();
  EXPECT_NEAR(static_cast<double>(VerdictOn(planted).step_ns()), now, 0.03 * now);
}

// The truth is the same work without gaps between the kernels: a CUDA graph.
TEST(VerdictTest, ManySmallKernels) {
  TrainingPlan planted;
  planted.layers = 100;
  planted.kernels = 20;
  planted.kernel_ns = 2'000;
  TrainingPlan graph = planted;
  graph.python_ns = graph.call_ns = 0;
  ExpectPlanted("launch_bound", planted, graph);
}

// What is saved is time of the program that nobody records.
TEST(VerdictTest, WhatRecordingAddsIsNotSaved) {
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
TEST(VerdictTest, LaunchesThatComeAsFastAsTheirLatency) {
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
TEST(VerdictTest, NothingIsTakenOffAnImportedTrace) {
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

// Without the waits the host would still be slower than the GPU: they are not the cause.
TEST(VerdictTest, SyncsInALaunchBoundProgramAreNotTheCause) {
  TrainingPlan planted;
  planted.layers = 100;
  planted.kernels = 20;
  planted.kernel_ns = 2'000;
  planted.items_per_step = 10;
  EXPECT_EQ(VerdictOn(planted).label(), "launch_bound");
}

TEST(VerdictTest, ExposedCommunicationOfOneRankIsNeverCertain) {
  TrainingPlan planted;
  planted.communication_ns = 10'000'000;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_EQ(verdict.label(), "comm_exposed");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 10e6, 1e6);
  EXPECT_LE(verdict.confidence(), 0.6);
  ASSERT_EQ(verdict.caveats_size(), 1);
  EXPECT_NE(verdict.caveats(0).find("cannot be told apart"), std::string::npos);
}

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

// Its kernels are those of an older GPU.
TEST(VerdictTest, WhatKernelNamesShowIsALeverOfABusyGpu) {
  traceinject::Run run = RunOf(SimulatedTraining({}).rank());
  const proto::Verdict busy = BuildReportWithVerdict(run, {}).verdict();
  EXPECT_EQ(busy.label(), "compute_bound");
  ASSERT_EQ(busy.levers_size(), 1);
  EXPECT_NE(busy.levers(0).setting().find("aligned sizes"), std::string::npos);
  EXPECT_NE(busy.levers(0).change().find("100.0 % of the kernel time"), std::string::npos);
  run.ranks[0].devices[0].cc_major = 8;
  EXPECT_EQ(BuildReportWithVerdict(run, {}).verdict().levers_size(), 0);
}

TEST(VerdictTest, KernelsAreNoLeversOfAnotherLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  const Report report = BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
  EXPECT_EQ(report.verdict().label(), "dataloader");
  EXPECT_EQ(report.devices(0).kernel_findings_size(), 1);
  for (const proto::Lever& lever : report.verdict().levers())
    EXPECT_EQ(lever.change().find("of the kernel time"), std::string::npos);
}

TEST(VerdictTest, AnUnknownLoaderIsInconclusiveAndNamesTheRemedy) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  plan.record_loading = false;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "inconclusive");
  EXPECT_NE(verdict.abstained().find("NVTX ranges around your loader"), std::string::npos);
  EXPECT_EQ(verdict.levers_size(), 0);
}

TEST(VerdictTest, RangesNameALoaderThatNothingElseReports) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  RankBuilder ranges;
  for (std::size_t row = 0; row < rank.data_waits.size(); ++row)
    ranges.AddRange(
        {rank.data_waits.start[row], rank.data_waits.end[row], "dali pipeline: load_batch"});
  rank.nvtx = ranges.rank().nvtx;
  rank.nvtx_domains = ranges.rank().nvtx_domains;
  const auto text = static_cast<std::uint32_t>(rank.strings.size());
  rank.strings.emplace_back("dali pipeline: load_batch");
  std::fill(rank.nvtx.text.begin(), rank.nvtx.text.end(), text);
  rank.data_waits = {};
  EXPECT_EQ(BuildReportWithVerdict(RunOf(rank), {}).verdict().label(), "dataloader");
}

TEST(VerdictTest, WithoutStepsTheWholeWindowIsJudgedWithLittleConfidence) {
  TrainingPlan plan;
  plan.marks = false;
  plan.load_ns = 60'000'000;
  const proto::Verdict clear = VerdictOn(plan);
  EXPECT_EQ(clear.label(), "dataloader");
  EXPECT_EQ(clear.steps(), 0);
  EXPECT_LE(clear.confidence(), 0.4);
  plan.load_ns = 25'000'000;
  const proto::Verdict weak = VerdictOn(plan);
  EXPECT_EQ(weak.label(), "inconclusive");
  EXPECT_NE(weak.abstained().find("Fewer than three steps"), std::string::npos);
}

TEST(VerdictTest, OnlyTheChosenSteps) {
  TrainingPlan plan;
  plan.load_ns = 5'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const Report all = BuildReportWithVerdict(RunOf(rank), {});
  ReportOptions options;
  options.steps = StepChoice{11, 20};
  options.mfu.flops_per_step = 1e9;
  const Report part = BuildReportWithVerdict(RunOf(rank), options);
  ASSERT_EQ(part.devices_size(), 1);
  ASSERT_EQ(part.steps_size(), 1);
  EXPECT_EQ(part.steps(0).first(), 11);
  ASSERT_EQ(part.steps(0).count(), 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(part.steps(0).steps(i).start_ns(), all.steps(0).steps(10 + i).start_ns());
    EXPECT_EQ(part.steps(0).steps(i).length_ns(), all.steps(0).steps(10 + i).length_ns());
  }
  const proto::Window& window = part.devices(0).window();
  EXPECT_TRUE(window.restricted());
  EXPECT_EQ(window.start_ns(), all.steps(0).steps(10).start_ns());
  EXPECT_EQ(window.end_ns(), all.steps(0).steps(20).start_ns());
  // The device's own figures are those of its steps.
  EXPECT_EQ(part.devices(0).partition().wall_ns(), part.steps(0).sum().length_ns());
  EXPECT_EQ(part.devices(0).partition().idle_ns(), part.steps(0).sum().idle_ns());
  EXPECT_EQ(part.mfu().steps(), 10);
}

// What comes after the window says nothing about how much of the window was joined to its launches.
TEST(VerdictTest, AnEarlyPartIsJudgedLikeTheWhole) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const Report all = BuildReportWithVerdict(RunOf(rank), {});
  ReportOptions options;
  options.steps = StepChoice{1, 8};
  const Report part = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(all.verdict().label(), "dataloader");
  EXPECT_EQ(part.verdict().label(), "dataloader");
}

TEST(VerdictTest, StepsThatAreNotThereAreNotChosen) {
  Rank rank = SimulatedTraining({}).rank();
  ReportOptions options;
  options.steps = StepChoice{30, 300};
  const Report report = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(report.devices_size(), 0);
  EXPECT_EQ(report.steps_size(), 0);
  ASSERT_GE(report.notes_size(), 1);
  EXPECT_NE(report.notes(0).find("not the chosen 30 to 300"), std::string::npos) << report.notes(0);
}

TEST(VerdictTest, APatternThatNamesNoStepsIsSaid) {
  Rank rank = SimulatedTraining({}).rank();
  ReportOptions options;
  options.step_pattern = StepPattern::Parse("epoch").value();
  const Report report = BuildReportWithVerdict(RunOf(rank), options);
  EXPECT_EQ(report.steps(0).source(), "whole window");
  ASSERT_GE(report.notes_size(), 1);
  EXPECT_NE(report.notes(0).find("'epoch' matches the names of 0 NVTX ranges"), std::string::npos)
      << report.notes(0);
}

TEST(VerdictTest, ShuffledCorrelationsGetNoLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  std::vector<std::uint32_t>& launch = rank.devices[0].ops.launch;
  std::vector<std::uint32_t> reversed;
  for (std::size_t i = launch.size(); i > 0; --i) reversed.push_back(launch[i - 1]);
  launch = reversed;
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(rank), {}).verdict();
  EXPECT_EQ(verdict.label(), "inconclusive");
  EXPECT_NE(verdict.abstained().find("correlation ids"), std::string::npos);
}

TEST(VerdictTest, LostRecordsAndUnjoinedLaunchesGetNoLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank lossy = SimulatedTraining(plan).rank();
  lossy.health = {{"kernel", "seen", 1000, ""}, {"kernel", "dropped", 50, ""}};
  EXPECT_EQ(BuildReportWithVerdict(RunOf(lossy), {}).verdict().label(), "inconclusive");
  Rank unjoined = SimulatedTraining(plan).rank();
  std::vector<std::uint32_t>& launch = unjoined.devices[0].ops.launch;
  std::vector<std::uint32_t> half;
  for (std::size_t i = 0; i < launch.size(); ++i)
    half.push_back(i < launch.size() / 2 ? kNone : launch[i]);
  launch = half;
  EXPECT_EQ(BuildReportWithVerdict(RunOf(unjoined), {}).verdict().label(), "inconclusive");
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

TEST(VerdictTest, NothingRecorded) {
  const Report report = BuildReportWithVerdict({}, {});
  EXPECT_EQ(report.verdict().label(), "inconclusive");
  EXPECT_FALSE(report.verdict().abstained().empty());
}

// Every line that tells of events names a place where they are, on the process and GPU judged.
TEST(VerdictTest, EvidenceNamesPlacesInsideTheRun) {
  TrainingPlan loader, upload, item, allocate, save, collect, small, communicate;
  loader.load_ns = 25'000'000;
  upload.upload_bytes = 100'000'000;
  item.layers = item.items_per_step = 120;
  item.kernels = 2;
  item.kernel_ns = 25'000;
  allocate.allocations_per_step = 10;
  save.checkpoint_every = 10;
  save.checkpoint_ns = 90'000'000;
  collect.items_per_step = 1;
  collect.collect_every = 4;
  collect.collect_ns = 60'000'000;
  small.layers = 100;
  small.kernels = 20;
  small.kernel_ns = 2'000;
  communicate.communication_ns = 10'000'000;
  for (const TrainingPlan& plan :
       {loader, upload, item, allocate, save, collect, small, communicate, TrainingPlan()}) {
    const Report report = BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
    SCOPED_TRACE(report.verdict().label());
    int placed = 0;
    for (const proto::Evidence& line : report.verdict().evidence()) {
      if (!line.has_start_ns()) continue;
      ++placed;
      EXPECT_LT(line.start_ns(), line.end_ns()) << line.text();
      EXPECT_GT(line.start_ns(), -100'000'000) << line.text();
      EXPECT_LE(line.end_ns(), report.run().window().end_ns()) << line.text();
      EXPECT_EQ(line.source(), 0);
      EXPECT_NE(line.has_device(), line.has_thread()) << line.text();
    }
    EXPECT_GE(placed, 2);
  }
}

TEST(VerdictTest, AWaitIsShownByTheLongestOne) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const std::size_t row = 17;
  rank.data_waits.start[row] -= 3'000'000;  // by far the longest, into the time of other calls
  const TimeNs origin = rank.devices[0].ops.start.front();
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(rank), {}).verdict();
  ASSERT_EQ(verdict.label(), "dataloader");
  const proto::Evidence& wait = verdict.evidence(0);
  EXPECT_EQ(wait.start_ns(), rank.data_waits.start[row] - origin);
  EXPECT_EQ(wait.end_ns(), rank.data_waits.end[row] - origin);
  EXPECT_EQ(wait.thread(), rank.threads[rank.data_waits.thread[row]].tid);
  const proto::Evidence& gap = verdict.evidence(1);
  EXPECT_TRUE(gap.has_device());
  // No GPU operation runs in it.
  const GpuOps& ops = rank.devices[0].ops;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    EXPECT_TRUE(ops.end[op] - origin <= gap.start_ns() || ops.start[op] - origin >= gap.end_ns());
  }
}

TEST(VerdictTest, StepsInTheReportAddUp) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  plan.upload_bytes = 30'000'000;
  plan.communication_ns = 2'000'000;
  const Report report = BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
  ASSERT_EQ(report.steps_size(), 1);
  EXPECT_EQ(report.steps(0).count(), plan.steps - 1);
  EXPECT_EQ(report.steps(0).source(), "optimizer steps");
  for (const proto::StepSplit& step : report.steps(0).steps()) {
    EXPECT_EQ(step.compute_ns() + step.exposed_communication_ns() + step.exposed_copy_ns() +
                  step.idle_ns(),
              step.length_ns());
    const std::int64_t idle =
        std::accumulate(step.idle().begin(), step.idle().end(), std::int64_t{0},
                        [](std::int64_t sum, const proto::IdlePart& p) { return sum + p.ns(); });
    EXPECT_EQ(idle, step.idle_ns());
  }
}

TEST(VerdictTest, SmallKernelsAreALeverWhereTheyAreMany) {
  TrainingPlan small, large;
  small.kernel_ns = 5'000;
  small.python_ns = small.call_ns = 1'000;  // the host is ahead all the same
  small.layers = 100;
  for (const TrainingPlan& plan : {small, large}) {
    const Report report = BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
    const auto& findings = report.run().kernel_findings();
    const auto found =
        std::find_if(findings.begin(), findings.end(),
                     [](const proto::KernelFinding& one) { return one.name() == "small_kernels"; });
    EXPECT_EQ(found != findings.end(), plan.kernel_ns == small.kernel_ns);
    if (found == findings.end()) continue;
    EXPECT_EQ(found->share(), 1);
    EXPECT_NE(found->text().find("800 launches a step"), std::string::npos) << found->text();
    EXPECT_GT(report.steps(0).queue().slack_median_ns(), 10'000);
  }
}

TEST(VerdictTest, RegularStepsAndThoseLeftOutAreAll) {
  TrainingPlan plan;
  plan.checkpoint_every = 8;
  plan.checkpoint_ns = 90'000'000;
  const Report report = BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
  const proto::DeviceSteps& steps = report.steps(0);
  ASSERT_EQ(steps.left_out_size(), 1);
  EXPECT_EQ(steps.left_out(0).kind(), "checkpoint");
  EXPECT_EQ(steps.left_out(0).count(), plan.steps / plan.checkpoint_every);
  EXPECT_EQ(steps.regular() + steps.left_out(0).count(), steps.count());
  std::int64_t all_ns = 0;
  for (const proto::StepSplit& step : steps.steps()) all_ns += step.length_ns();
  const proto::StepSplit& sum = steps.regular_sum();
  EXPECT_EQ(sum.length_ns() + steps.left_out(0).total_ns(), all_ns);
  EXPECT_EQ(
      sum.compute_ns() + sum.exposed_communication_ns() + sum.exposed_copy_ns() + sum.idle_ns(),
      sum.length_ns());
  for (const proto::IdlePart& part : sum.idle()) EXPECT_NE(part.cause(), "checkpoint");
}

// Whenever it is told: what it gives is the report or has no verdict.
TEST(VerdictTest, StepsAloneAreThoseOfTheVerdict) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  const auto run = RunOf(SimulatedTraining(plan).rank());
  const Report with_verdict = BuildReportWithVerdict(run, {});
  Report steps = BuildReport(run, {});
  AddSteps(run, {}, steps);
  ASSERT_EQ(steps.steps_size(), 1);
  EXPECT_EQ(steps.steps(0).SerializeAsString(), with_verdict.steps(0).SerializeAsString());
  ReportOptions few;
  few.step_rows = 3;
  Report first = BuildReport(run, few);
  AddSteps(run, few, first);
  EXPECT_EQ(first.steps(0).steps_size(), 3);
  EXPECT_EQ(first.steps(0).sum().length_ns(), steps.steps(0).sum().length_ns());
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
  Report report = BuildReport(run, {});
  AddVerdict(run, options, {}, report);
  EXPECT_EQ(report.verdict().label(), "");
  const Rank& rank = run.ranks[0];
  const Device& device = rank.devices[0];
  const Interval all{rank.start, rank.end};
  EXPECT_TRUE(JudgeDevice(rank, device, all, &stop).causes.steps.empty());
  const JudgedDevice judged = JudgeDevice(rank, device, all);
  EXPECT_FALSE(judged.causes.steps.empty());
  EXPECT_FALSE(FindSavings(judged).causes.empty());
  EXPECT_TRUE(FindSavings(judged, &stop).causes.empty());
}

}  // namespace
}  // namespace traceinject
