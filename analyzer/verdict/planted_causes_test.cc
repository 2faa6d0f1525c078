// SPDX-License-Identifier: Apache-2.0
// Labels and savings against the same program without the planted cause.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// The label, and the saving against the same program without the cause, neither of them recorded.
void ExpectPlanted(const std::string& label, const TrainingPlan& planted,
                   const TrainingPlan& clean) {
  const double now = SimulatedTraining(planted).step_ns();
  const double then = SimulatedTraining(clean).step_ns();
  ASSERT_GE(now - then, 0.2 * now) << "the planted cause is too weak to be a test";
  const proto::Verdict verdict = VerdictOn(Recorded(planted));
  EXPECT_EQ(verdict.label(), label) << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.step_ns() - verdict.recording_ns()), now, 0.03 * now);
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

TEST(PlantedCauseTest, SlowDataLoader) {
  TrainingPlan planted;
  planted.load_ns = 25'000'000;
  ExpectPlanted("dataloader", planted, {});
}

TEST(PlantedCauseTest, SlowDataLoaderBehindALossThatIsRead) {
  TrainingPlan planted, clean;
  planted.load_ns = 25'000'000;
  planted.items_per_step = clean.items_per_step = 1;
  ExpectPlanted("dataloader", planted, clean);
}

// The host runs ahead of the GPU while it loads, so only what sticks out is saved.
TEST(PlantedCauseTest, PartlyHiddenDataLoader) {
  TrainingPlan planted;
  planted.load_ns = 28'000'000;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_LT(verdict.saved_ns(), 14'000'000);
  EXPECT_EQ(verdict.label(), "dataloader");
}

TEST(PlantedCauseTest, RangesNameALoaderThatNothingElseReports) {
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

TEST(PlantedCauseTest, PageableCopy) {
  TrainingPlan planted, clean;
  planted.upload_bytes = clean.upload_bytes = 100'000'000;
  clean.pinned = true;
  ExpectPlanted("h2d_copy", planted, clean);
}

// Kernels as long as two launches: enough to run ahead, were it not for the waits.
TEST(PlantedCauseTest, ItemPerLayer) {
  TrainingPlan planted;
  planted.layers = 120;
  planted.kernels = 2;
  planted.kernel_ns = 25'000;
  TrainingPlan clean = planted;
  planted.items_per_step = planted.layers;
  ExpectPlanted("sync_bound", planted, clean);
}

TEST(PlantedCauseTest, EmptyCacheEachStep) {
  TrainingPlan planted;
  planted.allocations_per_step = 10;
  planted.free_ns = 500'000;
  planted.malloc_ns = 400'000;
  ExpectPlanted("allocator", planted, {});
}

// From pinned memory, but in turn with the kernels: a copy a step ahead takes none of their time.
TEST(PlantedCauseTest, PinnedCopyThatNothingOverlaps) {
  TrainingPlan planted;
  planted.upload_bytes = 500'000'000;
  planted.pinned = true;
  ExpectPlanted("h2d_copy", planted, {});
  const proto::Verdict verdict = VerdictOn(planted);
  ASSERT_EQ(verdict.levers_size(), 1);
  EXPECT_EQ(verdict.levers(0).setting(), "copy the next batch on a separate stream");
}

// The link cannot copy more in a step than it takes.
TEST(PlantedCauseTest, PinnedCopiesLongerThanTheStep) {
  TrainingPlan planted;
  planted.upload_bytes = 1'512'000'000;  // 30 ms beside 20 ms of kernels
  planted.pinned = true;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_EQ(verdict.label(), "h2d_copy") << verdict.abstained();
  EXPECT_NEAR(static_cast<double>(verdict.new_step_ns()), 30'000'000, 1'000'000);
}

TEST(PlantedCauseTest, CheckpointEveryTenSteps) {
  TrainingPlan planted;
  planted.checkpoint_every = 10;
  planted.checkpoint_ns = 90'000'000;
  ExpectPlanted("checkpoint", planted, {});
}

// Whether the recording ends just before or just after a checkpoint.
TEST(PlantedCauseTest, CheckpointsCountInWholePeriods) {
  TrainingPlan before, after;
  before.checkpoint_every = after.checkpoint_every = 10;
  before.checkpoint_ns = after.checkpoint_ns = 300'000'000;
  before.steps = 36;
  after.steps = 37;
  const auto saved = static_cast<double>(VerdictOn(before).saved_ns());
  EXPECT_NEAR(saved, static_cast<double>(VerdictOn(after).saved_ns()), 0.03 * saved);
  EXPECT_NEAR(saved, 29'500'000, 1'000'000);  // less what the GPU still had to do
}

TEST(PlantedCauseTest, GarbageCollections) {
  TrainingPlan planted, clean;
  planted.items_per_step = clean.items_per_step = 1;
  planted.collect_every = 4;
  planted.collect_ns = 60'000'000;
  ExpectPlanted("gc_pause", planted, clean);
}

// Three pauses at one distance, in one spell: the steps before and after it count, too.
TEST(PlantedCauseTest, CollectionsOfOneSpellAreOverAllSteps) {
  TrainingPlan planted;
  planted.steps = 60;
  planted.items_per_step = 1;
  planted.collect_in = {30, 34, 38};
  planted.collect_ns = 60'000'000;
  const double now = SimulatedTraining(planted).step_ns();
  EXPECT_NEAR(static_cast<double>(VerdictOn(planted).step_ns()), now, 0.03 * now);
}

// The truth is the same work without gaps between the kernels: a CUDA graph.
TEST(PlantedCauseTest, ManySmallKernels) {
  TrainingPlan planted;
  planted.layers = 100;
  planted.kernels = 20;
  planted.kernel_ns = 2'000;
  TrainingPlan graph = planted;
  graph.python_ns = graph.call_ns = 0;
  ExpectPlanted("launch_bound", planted, graph);
}

// Without the waits the host would still be slower than the GPU: they are not the cause.
TEST(PlantedCauseTest, SyncsInALaunchBoundProgramAreNotTheCause) {
  TrainingPlan planted;
  planted.layers = 100;
  planted.kernels = 20;
  planted.kernel_ns = 2'000;
  planted.items_per_step = 10;
  EXPECT_EQ(VerdictOn(planted).label(), "launch_bound");
}

}  // namespace
}  // namespace traceinject
