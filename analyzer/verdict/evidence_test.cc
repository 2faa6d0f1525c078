// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/evidence.h"

#include <gtest/gtest.h>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

// Every line that tells of events names a place where they are, on the process and GPU judged.
TEST(EvidenceTest, EvidenceNamesPlacesInsideTheRun) {
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
    const Report report = ReportOn(plan);
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

TEST(EvidenceTest, AWaitIsShownByTheLongestOne) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  const std::size_t row = 17;
  rank.data_waits.start.Set(
      row,
      rank.data_waits.start[row] - 3'000'000);  // by far the longest, into the time of other calls
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

}  // namespace
}  // namespace traceinject
