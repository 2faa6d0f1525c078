// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/repair_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/import/finish/repair_clock.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

class RepairOperationsTest : public testing::Test {
 protected:
  // Kernels of 10 us, one every 20 us, launched 1 ms before.
  void AddKernels(int count) {
    for (int i = 0; i < count; ++i) {
      const TimeNs start = kMs + 20 * kUs * i;
      const std::uint32_t call =
          builder_.AddApi(start - kMs, start - kMs + 5 * kUs, "cudaLaunchKernel");
      builder_.AddKernel(start, start + 10 * kUs, "gemm", call);
    }
    rank().end = kMs + 20 * kUs * count + kMs;
  }
  Rank& rank() { return builder_.rank(); }
  GpuOps& ops() { return builder_.ops(); }
  const Trust& Repair() {
    RepairOperations(rank());
    return rank().trust;
  }
  void Link(std::uint32_t row, std::uint32_t call) {
    std::vector<std::uint32_t> launch(ops().launch.begin(), ops().launch.end());
    launch.at(row) = call;
    ops().launch = {};
    for (const std::uint32_t each : launch) ops().launch.push_back(each);
  }

  RankBuilder builder_;
};

TEST_F(RepairOperationsTest, LeavesWholeRecordsAlone) {
  AddKernels(100);
  const GpuOps before = ops();
  const Trust& trust = Repair();
  EXPECT_EQ(ops().start, before.start);
  EXPECT_EQ(ops().end, before.end);
  EXPECT_TRUE(std::equal(ops().launch.begin(), ops().launch.end(), before.launch.begin()));
  EXPECT_TRUE(ops().unrecorded.empty());
  EXPECT_EQ(trust.operations, 100);
  EXPECT_EQ(trust.links, 100);
  EXPECT_EQ(trust.launches, 100);
  EXPECT_EQ(trust.lost_share(), 0);
}

TEST_F(RepairOperationsTest, OutlastingTheNextIsCorrupt) {
  AddKernels(100);
  ops().end.Set(50, ops().end[50] + 10 * kSecond);
  const Trust& trust = Repair();
  EXPECT_EQ(trust.corrupt_durations, 1);
  EXPECT_EQ(trust.corrupt_ns, 10 * kSecond);
  EXPECT_EQ(trust.replaced_ns, 10 * kUs);
  EXPECT_EQ(ops().end[50], ops().start[50] + 10 * kUs);
  EXPECT_TRUE(ops().unrecorded.empty());
}

// Nothing on its stream tells when it ended.
TEST_F(RepairOperationsTest, WithoutProofTheRestIsUnknown) {
  AddKernels(100);
  ops().end.Set(99, ops().end[99] + 10 * kSecond);
  rank().end = ops().end[99];
  EXPECT_EQ(Repair().corrupt_durations, 1);
  EXPECT_EQ(ops().unrecorded, (std::vector<Interval>{{ops().start[99] + 10 * kUs,
                                                      ops().start[99] + 10 * kUs + 10 * kSecond}}));
}

TEST_F(RepairOperationsTest, CommunicationMayWait) {
  for (int i = 0; i < 20; ++i)
    builder_.AddKernel(i * kMs, i * kMs + 50 * kUs, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  ops().end.Set(19, ops().end[19] + 10 * kSecond);
  rank().end = 20 * kSecond;
  EXPECT_EQ(Repair().corrupt_durations, 0);
}

// Programmatic dependent launch: the next one begins before this one has ended.
TEST_F(RepairOperationsTest, KernelsMayBeginEarlySinceHopper) {
  AddKernels(100);
  rank().devices[0].cc_major = 9;
  ops().end.Set(50, ops().start[51] + 5 * kUs);
  EXPECT_EQ(Repair().corrupt_durations, 0);
  EXPECT_EQ(rank().trust.overlaps, 0);
}

TEST_F(RepairOperationsTest, OverlapOfOrdinaryLengthIsCounted) {
  AddKernels(100);
  rank().devices[0].cc_major = 8;
  ops().end.Set(50, ops().start[51] + 5 * kUs);
  EXPECT_EQ(Repair().overlaps, 1);
  EXPECT_EQ(ops().end[50], ops().start[51] + 5 * kUs);
}

TEST_F(RepairOperationsTest, NodesOfGraphsRunInParallel) {
  AddKernels(100);
  PackedColumn<std::uint32_t> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(0);
  ops().graph_node = nodes;
  rank().graph_nodes.resize(1);
  ops().end.Set(50, ops().end[50] + kMs);
  EXPECT_EQ(Repair().corrupt_durations, 0);
}

// As XLA makes them, which tunes kernels: the copy's record begins with its call, before the
// kernels that were launched ahead of it, and lasts until the call has waited for them.
TEST_F(RepairOperationsTest, CopiesWithinHostMemoryBelongToTheirCall) {
  rank().devices[0].cc_major = 9;
  for (int i = 0; i < 20; ++i) {
    const TimeNs start = kMs * i;
    const std::uint32_t launch = builder_.AddApi(start, start + 5 * kUs, "cuLaunchKernel");
    const std::uint32_t copy =
        builder_.AddApi(start + 10 * kUs, start + 100 * kUs, "cuMemcpyDtoHAsync");
    builder_.AddCopy(start + 12 * kUs, start + 99 * kUs,
                     {.bytes = 8, .kind = 9, .src_kind = 2, .dst_kind = 1, .async = true}, copy);
    builder_.AddKernel(start + 25 * kUs, start + 50 * kUs, "checker", launch);
  }
  rank().end = 20 * kMs;
  const Trust& trust = Repair();
  EXPECT_EQ(trust.links, 40);
  EXPECT_EQ(trust.wrong_links, 0);
  EXPECT_EQ(trust.overlaps, 0);
  EXPECT_EQ(trust.corrupt_durations, 0);
}

TEST_F(RepairOperationsTest, WhatLiesOutsideIsLeftOut) {
  AddKernels(100);
  ops().start.Set(0, -1000 * kSecond);
  ops().end.Set(0, -1000 * kSecond);
  EXPECT_EQ(Repair().outside, 1);
  EXPECT_EQ(ops().size(), 99u);
  EXPECT_EQ(ops().launch[0], 1u);
}

TEST_F(RepairOperationsTest, ExchangedIdsAreOutOfOrder) {
  AddKernels(100);
  Link(20, 40);
  Link(40, 20);
  EXPECT_EQ(Repair().wrong_links, 2);
  EXPECT_EQ(ops().launch[20], kNone);
  EXPECT_EQ(ops().launch[40], kNone);
  EXPECT_EQ(ops().launch[30], 30u);
  EXPECT_FALSE(rank().trust.links_dropped);
}

TEST_F(RepairOperationsTest, ManyWrongLinksSpoilAll) {
  AddKernels(100);
  for (std::uint32_t row = 0; row < 100; ++row) Link(row, (row * 37) % 100);
  EXPECT_TRUE(Repair().links_dropped);
  EXPECT_EQ(std::count(ops().launch.begin(), ops().launch.end(), kNone), 100);
}

// Two threads may reach a stream in another order than that in which their calls began.
TEST_F(RepairOperationsTest, OverlappingCallsMayPassEachOther) {
  AddKernels(10);
  rank().api.end.Set(4, rank().api.end[5]);
  Link(4, 5);
  Link(5, 4);
  EXPECT_EQ(Repair().wrong_links, 0);
}

// The next one, begun early, may be stamped first: so seen on an H200.
TEST_F(RepairOperationsTest, StartsCloseTogetherMayBeExchanged) {
  AddKernels(100);
  Link(50, 51);
  Link(51, 50);
  GpuOps& rows = ops();
  rows.start.Set(51, rows.start[50] + 300);
  rows.end.Set(51, rows.start[51] + 700);
  EXPECT_EQ(Repair().wrong_links, 0);
  EXPECT_EQ(ops().launch[51], 50u);
}

TEST_F(RepairOperationsTest, KernelsAreNotLaunchedByCopies) {
  AddKernels(100);
  const std::uint32_t copy = builder_.AddApi(3 * kMs, 3 * kMs + kUs, "cudaMemcpyAsync");
  builder_.AddKernel(4 * kMs, 4 * kMs + 10 * kUs, "gemm", copy);
  EXPECT_EQ(Repair().wrong_links, 1);
}

TEST_F(RepairOperationsTest, OneLaunchGivesOneKernel) {
  AddKernels(100);
  Link(51, 50);
  EXPECT_EQ(Repair().repeated_links, 1);
  EXPECT_EQ(ops().launch[50], 50u);
  EXPECT_EQ(ops().launch[51], kNone);
}

TEST_F(RepairOperationsTest, EarlyStartsAreCounted) {
  AddKernels(100);
  rank().api.start.Set(50, ops().start[50] + 50 * kUs);
  rank().api.end.Set(50, rank().api.start[50] + kUs);
  const Trust& trust = Repair();
  EXPECT_EQ(trust.early_starts, 1);
}

TEST_F(RepairOperationsTest, LaunchesWithoutOperationsAreLosses) {
  AddKernels(50);
  builder_.AddApi(1'010 * kUs, 1'012 * kUs, "cudaLaunchKernel");
  const TimeNs end = ops().end[49];
  const std::uint32_t call = builder_.AddApi(1'020 * kUs, 1'025 * kUs, "cudaLaunchKernel");
  builder_.AddKernel(end + 8 * kUs, end + 18 * kUs, "gemm", call);
  const Trust& trust = Repair();
  EXPECT_EQ(trust.launches, 52);
  EXPECT_EQ(trust.lost_operations, 1);
  EXPECT_EQ(ops().unrecorded, (std::vector<Interval>{{end, end + 8 * kUs}}));
}

TEST_F(RepairOperationsTest, LaunchesInGraphsMayBeCaptured) {
  AddKernels(50);
  builder_.AddApi(1'010 * kUs, 1'012 * kUs, "cudaLaunchKernel");
  const std::uint32_t graph = builder_.AddApi(1'020 * kUs, 1'025 * kUs, "cudaGraphLaunch");
  builder_.AddKernel(ops().end[49] + 8 * kUs, ops().end[49] + 18 * kUs, "gemm", graph);
  EXPECT_EQ(Repair().lost_operations, 0);
}

TEST_F(RepairOperationsTest, GapsOfCaptureAreUnrecorded) {
  AddKernels(50);
  rank().gaps = {{1'500 * kUs, 1'600 * kUs, "write_errors"}};
  Repair();
  EXPECT_EQ(ops().unrecorded, (std::vector<Interval>{{1'500 * kUs, 1'600 * kUs}}));
}

class RepairClockTest : public RepairOperationsTest {
 protected:
  // Notes of the clocks every 100 us, of which those from `at` on are `by` later.
  void AddClocks(TimeNs at, TimeNs by) {
    for (TimeNs time = 0; time <= rank().end; time += 100 * kUs) {
      rank().clocks.realtime.push_back(time < at ? time : time + by);
      rank().clocks.monotonic.push_back(time + 7 * kSecond);
    }
  }
};

TEST_F(RepairClockTest, StepsForwardsAreTakenOut) {
  AddKernels(100);
  const TimeColumn start = ops().start, end = ops().end, called = rank().api.start;
  const TimeNs at = 2'015 * kUs, by = 3 * kSecond;
  for (TimeColumn* times : {&ops().start, &ops().end, &rank().api.start, &rank().api.end})
    times->Transform([&](TimeNs time) { return time >= at ? time + by : time; });
  AddClocks(at, by);
  rank().end += by;
  RepairClockSteps(rank());
  ASSERT_EQ(rank().trust.clock_steps.size(), 1u);
  EXPECT_TRUE(rank().trust.clock_steps[0].repaired);
  EXPECT_EQ(rank().trust.clock_steps[0].by_ns, by);
  EXPECT_EQ(ops().start, start);
  EXPECT_EQ(ops().end, end);
  EXPECT_EQ(rank().api.start, called);
}

TEST_F(RepairClockTest, StepsBackwardsAreNoted) {
  AddKernels(100);
  AddClocks(2 * kMs, -kSecond);
  RepairClockSteps(rank());
  ASSERT_EQ(rank().trust.clock_steps.size(), 1u);
  EXPECT_FALSE(rank().trust.clock_steps[0].repaired);
}

// The thread that took the note was interrupted between the two clocks.
TEST_F(RepairClockTest, InterruptionsAreNoSteps) {
  AddKernels(100);
  AddClocks(0, 0);
  rank().clocks.monotonic[3] += 40 * kMs;
  rank().clocks.monotonic.back() += 40 * kMs;
  RepairClockSteps(rank());
  EXPECT_TRUE(rank().trust.clock_steps.empty());
}

}  // namespace
}  // namespace traceinject
