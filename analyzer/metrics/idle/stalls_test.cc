// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/stalls.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// One AllReduce that completes and, where it hangs, one that does not, with a kernel behind it.
Rank TrainingRank(int number, bool hangs) {
  RankBuilder builder;
  builder.rank().rank = number;
  builder.rank().end = 9000;
  const std::uint32_t communicator = builder.AddCommunicator(2, number, 0);
  const std::uint32_t first = builder.AddApi(100, 110, "cuLaunchKernel");
  builder.AddCall({200, 250, "AllReduce", 4 << 20, communicator});
  const std::uint32_t nccl = builder.AddApi(210, 220, "cuLaunchKernelEx");
  builder.AddPlan(0, nccl);
  builder.AddKernel(300, 400, kGemm, first);
  builder.AddKernel(450, 600, kNccl, nccl);
  if (!hangs) return builder.rank();
  builder.AddCall({700, 750, "AllReduce", 8 << 20, communicator});
  const std::uint32_t hung = builder.AddApi(710, 720, "cuLaunchKernelEx");
  builder.AddPlan(1, hung);
  builder.rank().plans.sequence.back() = 6;
  builder.AddApi(760, 770, "cuLaunchKernel");
  builder.AddApi(780, 790, "cudaFuncGetAttributes");
  builder.AddRange({90, kOpen, "step 7"});
  builder.AddRange({95, 99, "over"});
  builder.AddSpan(800, 5000, HostSpanKind::kGpuWait, 5);
  builder.rank().gaps = {{720, kOpen, "stalled"}};
  return builder.rank();
}

TEST(StallsTest, TellsWhatIsOutstanding) {
  const Rank rank = TrainingRank(0, true);
  const std::vector<Stall> stalls = FindStalls(rank);
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].time, (Interval{720, kOpen}));
  EXPECT_EQ(rank.devices[stalls[0].device].ops.end[stalls[0].last_op], 600);
  EXPECT_EQ(stalls[0].launches, (std::vector<std::uint32_t>{2, 3})) << "in order";
  EXPECT_EQ(stalls[0].collective, 1U);
  EXPECT_EQ(stalls[0].waits.size(), 1U);
  ASSERT_EQ(stalls[0].ranges.size(), 1U);
  EXPECT_EQ(rank.string(rank.nvtx.text[stalls[0].ranges[0]]), "step 7");
  EXPECT_EQ(StateOf(rank, 0), OperationState::kCompleted);
  EXPECT_EQ(StateOf(rank, 1), OperationState::kOutstanding);
}

TEST(StallsTest, FailedAndCapturedLaunchesAreNotOutstanding) {
  Rank rank = TrainingRank(0, true);
  PackedColumn<std::int32_t> results;
  for (const int result : {0, 0, 0, 98, 0}) results.push_back(result);
  rank.api.result = results;
  EXPECT_EQ(FindStalls(rank)[0].launches, std::vector<std::uint32_t>{2});
  // With a graph, calls before the last that has an operation may have been captured.
  rank.graph_nodes = {{1, 1}};
  PackedColumn<std::uint64_t> correlation;
  for (const std::uint64_t id : {1, 9}) correlation.push_back(id);
  rank.devices[0].ops.correlation = correlation;
  EXPECT_TRUE(FindStalls(rank)[0].launches.empty());
}

TEST(StallsTest, ACallThatDidNotReturnIsWhereItStands) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, 0, 0);
  builder.AddCall({700, kOpen, "AllReduce", 8 << 20, communicator});
  builder.rank().gaps = {{720, kOpen, "stalled"}};
  const std::vector<Stall> stalls = FindStalls(builder.rank());
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].collective, 0U);
  EXPECT_EQ(stalls[0].last_op, kNone);
}

TEST(StallsTest, WhereCuptiDidNotAnswerWhatCompletedIsNotKnown) {
  Rank rank = TrainingRank(0, true);
  EXPECT_FALSE(FindStalls(rank)[0].unanswered);
  rank.health = {{"cupti", "unanswered", 1, ""}};
  EXPECT_TRUE(FindStalls(rank)[0].unanswered);
  rank.gaps = {{720, 5000, "stalled"}};
  EXPECT_FALSE(FindStalls(rank)[0].unanswered) << "it did in the end";
}

TEST(StallsTest, OfOneThatEndedTheTimeIsTold) {
  Rank rank = TrainingRank(0, true);
  rank.gaps = {{720, 5000, "stalled"}, {6000, 7000, "window"}};
  const std::vector<Stall> stalls = FindStalls(rank);
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_TRUE(stalls[0].launches.empty());
  EXPECT_EQ(stalls[0].collective, kNone);
}

TEST(StallsTest, TheSameOperationIsFoundAmongLaterOnes) {
  const Rank rank = TrainingRank(0, true);
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "AllReduce", 5), 0U);
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "AllReduce", 6), 1U);
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "AllReduce", 9), 1U) << "did not come to it";
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "AllReduce", -1), 1U) << "not told";
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "AllReduce", 4), kNone);
  EXPECT_EQ(FindSameOrLast(rank, 0xC0FFEE, "Broadcast", 5), kNone);
  EXPECT_EQ(FindSameOrLast(rank, 1, "AllReduce", 5), kNone);
}

TEST(StallsTest, TheReportNamesTheRankThatDidNotCome) {
  traceinject::Run run;
  run.ranks = {TrainingRank(0, true), TrainingRank(1, false)};
  const Report report = BuildReport(run, {});
  ASSERT_EQ(report.stalls_size(), 1);
  const proto::Stall& stall = report.stalls(0);
  EXPECT_EQ(stall.start_ns(), 720 - 300);
  EXPECT_FALSE(stall.has_end_ns());
  EXPECT_EQ(stall.length_ns(), 9000 - 720);
  EXPECT_EQ(stall.last_operation(), kNccl);
  EXPECT_EQ(stall.outstanding_launches(), 2);
  EXPECT_EQ(stall.first_launch().name(), "cuLaunchKernelEx");
  EXPECT_EQ(stall.operation().sequence(), 6);
  EXPECT_EQ(stall.operation().state(), "outstanding");
  EXPECT_EQ(stall.waits(0).name(), "the device");
  ASSERT_EQ(report.hung_operations_size(), 1);
  const proto::HungOperation& hung = report.hung_operations(0);
  EXPECT_EQ(hung.function(), "AllReduce");
  EXPECT_EQ(hung.sequence(), 6);
  ASSERT_EQ(hung.processes_size(), 2);
  EXPECT_EQ(hung.processes(1).sequence(), 5);
  EXPECT_EQ(hung.processes(1).state(), "completed");
  ASSERT_EQ(hung.behind_size(), 1);
  EXPECT_EQ(hung.behind(0), 1);
  run.ranks[0].gaps[0].end = 5000;
  EXPECT_FALSE(BuildReport(run, {}).stalls(0).has_outstanding_launches());
  run.ranks.erase(run.ranks.begin());
  EXPECT_EQ(BuildReport(run, {}).stalls_size(), 0);
}

}  // namespace
}  // namespace traceinject
