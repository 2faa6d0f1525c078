// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/summarise_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "analyzer/metrics/cost/recorder_cost.h"
#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/summary/check_summary.h"

namespace traceinject {
namespace {

// Steps of 10 ms: a GEMM of 6 ms, an AllReduce of 4 MiB that begins 1 ms before its end and takes
// 3 ms, and 2 ms of nothing.
class Training {
 public:
  explicit Training(int steps) {
    Rank& rank = builder_.rank();
    rank.rank = 3;
    rank.run_id = "job-1";
    rank.process.host = "node-a";
    rank.process.pid = 4711;
    rank.process.world_size = 8;
    rank.process.local_rank = 3;
    communicator_ = builder_.AddCommunicator(8, 3, 0, 0xABC);
    for (int i = 0; i < steps; ++i) AddStep(i * 10 * kMs);
    rank.end = steps * 10 * kMs;
    rank.health = {
        {"kernel", "dropped", 3, ""}, {"cupti", "dropped", 4, ""}, {"api", "seen", 9, ""}};
  }

  RankBuilder& builder() { return builder_; }
  Rank& rank() { return builder_.rank(); }
  std::uint32_t communicator() const { return communicator_; }

  // Returns its row.
  std::uint32_t AddAllReduce(TimeNs called, std::optional<Interval> kernel, std::int64_t sequence) {
    const auto row = static_cast<std::uint32_t>(rank().collectives.size());
    builder_.AddCall({called, called + 50 * kUs, "AllReduce", 4 << 20, communicator_});
    const std::uint32_t launch =
        builder_.AddApi(called + 10 * kUs, called + 20 * kUs, "cuLaunchKernelEx");
    builder_.AddPlan(row, launch);
    rank().plans.sequence.back() = sequence;
    if (kernel) builder_.AddKernel(kernel->start, kernel->end, kNccl, launch);
    return row;
  }

  RankSummary Summarize() {
    const std::vector<RankSummary> summaries = SummarizeRank(rank());
    EXPECT_EQ(summaries.size(), 1U);
    const Status checked = CheckSummary(summaries.at(0));
    EXPECT_TRUE(checked.ok()) << checked.error();
    return summaries.at(0);
  }

 private:
  void AddStep(TimeNs at) {
    const std::uint32_t gemm = builder_.AddApi(at + 10 * kUs, at + 15 * kUs, "cudaLaunchKernel");
    builder_.AddKernel(at + 1 * kMs, at + 7 * kMs, kGemm, gemm);
    AddAllReduce(at + 100 * kUs, Interval{at + 6 * kMs, at + 9 * kMs}, at / (10 * kMs));
    builder_.AddStepMark(at + 200 * kUs);
  }

  RankBuilder builder_;
  std::uint32_t communicator_ = kNone;
};

TEST(SummarizeRankTest, WhoItIs) {
  const RankSummary summary = Training(6).Summarize();
  EXPECT_EQ(summary.rank, 3);
  EXPECT_EQ(summary.world_size, 8);
  EXPECT_EQ(summary.local_rank, 3);
  EXPECT_EQ(summary.host, "node-a");
  EXPECT_EQ(summary.run_id, "job-1");
  EXPECT_EQ(summary.pid, 4711);
  EXPECT_EQ(summary.gpu, "NVIDIA H200");
  EXPECT_EQ(summary.dropped, 7);
  EXPECT_TRUE(summary.closed);
  EXPECT_EQ(summary.end, 60 * kMs);
  EXPECT_EQ(summary.busy_sm_clock_mhz, -1);
}

TEST(SummarizeRankTest, StepsAddUp) {
  const RankSummary summary = Training(6).Summarize();
  // A step ends with the last operation that was launched before its mark: five between six marks.
  ASSERT_EQ(summary.steps.size(), 5U);
  for (const StepFacts& step : summary.steps) {
    EXPECT_EQ(step.time.end - step.time.start, 10 * kMs);
    EXPECT_TRUE(step.regular);
    EXPECT_EQ(step.compute_ns, 6 * kMs);
    EXPECT_EQ(step.exposed_communication_ns, 2 * kMs);
    EXPECT_EQ(std::accumulate(step.idle_ns.begin(), step.idle_ns.end(), TimeNs{0}), 2 * kMs);
    EXPECT_EQ(step.kernels, 1);
  }
  ASSERT_EQ(summary.kernels.size(), 1U) << "without those that communicate";
  EXPECT_EQ(summary.kernels[0].name, kGemm);
  EXPECT_EQ(summary.kernels[0].count, 5);
  EXPECT_EQ(summary.kernels[0].total_ns, 30 * kMs);
  EXPECT_EQ(summary.kernels[0].median_ns, 6 * kMs);
}

// A step launches a GEMM and an AllReduce: too few to tell what a launch takes.
TEST(SummarizeRankTest, WhatRecordingAdds) {
  Training training(6);
  EXPECT_EQ(training.Summarize().recording_step_ns,
            std::llround(2 * kRecordedShare * kUsualLaunchNs));
  training.rank().imported_from = "a PyTorch profiler trace";
  EXPECT_EQ(training.Summarize().recording_step_ns, 0);
}

TEST(SummarizeRankTest, OperationsOfEachCommunicator) {
  Training training(6);
  const std::uint32_t again = training.builder().AddCommunicator(8, 3, 0, 0xABC);
  training.rank().communicators[again].created = 55 * kMs;
  training.builder().AddCall({70 * kMs, 71 * kMs, "Send", 1 << 20, again});
  training.rank().collectives.peer.back() = 5;
  training.builder().AddKernel(
      72 * kMs, 73 * kMs, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
      training.builder().AddApi(70 * kMs + 1, 70 * kMs + 2, "cuLaunchKernelEx"));
  const RankSummary summary = training.Summarize();
  ASSERT_EQ(summary.groups.size(), 2U);
  const GroupOperations& group = summary.groups[0];
  EXPECT_EQ(group.hash, 0xABCU);
  EXPECT_EQ(group.life, 0);
  EXPECT_EQ(group.size, 8);
  EXPECT_EQ(group.rank, 3);
  ASSERT_EQ(group.count(), 6U);
  const OperationKind kind{"AllReduce", 4 << 20, "RING", "SIMPLE"};
  for (std::size_t i = 0; i < 6; ++i) {
    const TimeNs at = static_cast<TimeNs>(i) * 10 * kMs;
    EXPECT_EQ(group.start[i], at + 6 * kMs);
    EXPECT_EQ(group.end[i], at + 9 * kMs);
    EXPECT_EQ(group.launch[i], at + 110 * kUs);
    EXPECT_EQ(group.exposed_ns[i], 2 * kMs);
    EXPECT_EQ(group.blocked_ns[i], 2 * kMs);
    EXPECT_EQ(summary.kinds.at(group.kind[i]), kind);
    EXPECT_EQ(group.peer[i], -1);
    EXPECT_EQ(group.sequence[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(group.step[i], i == 0 ? kNone : static_cast<std::uint32_t>(i - 1));
  }
  EXPECT_EQ(summary.groups[1].hash, 0xABCU);
  EXPECT_EQ(summary.groups[1].life, 1);
  ASSERT_EQ(summary.groups[1].count(), 1U);
  EXPECT_EQ(summary.groups[1].peer[0], 5);
  EXPECT_EQ(summary.groups[1].sequence[0], -1);
  EXPECT_EQ(summary.groups[1].step[0], kNone);
  EXPECT_EQ(summary.kinds.at(summary.groups[1].kind[0]).function, "Send");
}

TEST(SummarizeRankTest, OnlyDevicesWithWork) {
  Training training(6);
  training.builder().AddDevice("NVIDIA H200");
  const std::size_t third = training.builder().AddDevice("NVIDIA H200");
  training.builder().AddKernel(5 * kMs, 6 * kMs, kGemm, kNone, third);
  const std::vector<RankSummary> summaries = SummarizeRank(training.rank());
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].device, 0);
  EXPECT_EQ(summaries[1].device, 2);
  EXPECT_TRUE(summaries[1].groups.empty());
  EXPECT_TRUE(SummarizeRank(Rank()).empty());
}

TEST(SummarizeRankTest, TheClockOfTheBusyGpu) {
  Training training(6);
  DeviceSamples& samples = training.rank().devices[0].samples;
  for (int i = 0; i < 6; ++i) {
    samples.time.push_back(i * 10 * kMs + 9 * kMs);
    samples.sm_clock_mhz.push_back(i < 3 ? 2000 : 1000);
    samples.throttle_reasons.push_back(i < 3 ? 2 : 4);  // application clocks, power cap
    for (auto* column : {&samples.memory_clock_mhz, &samples.power_mw, &samples.temperature_c,
                         &samples.sm_utilisation_pct, &samples.memory_utilisation_pct})
      column->push_back(-1);
    samples.memory_used_bytes.push_back(-1);
  }
  const RankSummary summary = training.Summarize();
  EXPECT_DOUBLE_EQ(summary.busy_sm_clock_mhz, (3 * 2000 + 2 * 1000) / 5.0);
  EXPECT_DOUBLE_EQ(summary.throttled_share, 2 / 5.0);
}

class HungTest : public testing::Test {
 protected:
  static constexpr TimeNs kCalled = 60 * kMs, kLongAfter = kCalled + 10'000 * kMs;
  HungTest() { training_.rank().closed = false; }
  std::vector<HungFacts> Hung() { return training_.Summarize().hung; }
  Training training_{6};
};

TEST_F(HungTest, AnOperationThatNoKernelEnded) {
  training_.AddAllReduce(kCalled, std::nullopt, 6);
  training_.rank().end = kLongAfter;
  const std::vector<HungFacts> hung = Hung();
  ASSERT_EQ(hung.size(), 1U);
  EXPECT_EQ(hung[0].hash, 0xABCU);
  EXPECT_EQ(hung[0].function, "AllReduce");
  EXPECT_EQ(hung[0].bytes, 4 << 20);
  EXPECT_EQ(hung[0].sequence, 6);
  EXPECT_EQ(hung[0].since, kCalled);
}

TEST_F(HungTest, TheProcessMayHaveLivedOnWithoutEvents) {
  training_.AddAllReduce(kCalled, std::nullopt, 6);
  EXPECT_TRUE(Hung().empty()) << "its kernel may not have been stored yet";
  training_.rank().clocks.realtime = {0, kLongAfter};
  EXPECT_EQ(Hung().size(), 1U);
}

TEST_F(HungTest, WhereTheRecorderSawItNoTimeIsNeeded) {
  training_.AddAllReduce(kCalled, std::nullopt, 6);
  training_.rank().gaps = {{59 * kMs, kOpen, "stalled"}};
  EXPECT_EQ(Hung().size(), 1U);
  training_.rank().gaps[0].end = 61 * kMs;
  EXPECT_TRUE(Hung().empty());
}

TEST_F(HungTest, ACallThatDidNotReturn) {
  training_.builder().AddCall({kCalled, kOpen, "Broadcast", 1 << 10, training_.communicator()});
  training_.rank().end = kLongAfter;
  ASSERT_EQ(Hung().size(), 1U);
  EXPECT_EQ(Hung()[0].function, "Broadcast");
  EXPECT_EQ(Hung()[0].sequence, -1);
}

TEST_F(HungTest, ItMayHaveRunWhereNothingWasRecorded) {
  training_.AddAllReduce(kCalled, std::nullopt, 6);
  training_.rank().end = kLongAfter;
  training_.rank().gaps = {{kCalled - kMs, kCalled, "window"}};
  EXPECT_EQ(Hung().size(), 1U);
  for (const char* reason : {"window", "max_size"}) {
    training_.rank().gaps = {{kCalled + kMs, kOpen, reason}};
    EXPECT_TRUE(Hung().empty());
  }
}

TEST_F(HungTest, ALostRecordIsNoHang) {
  training_.AddAllReduce(kCalled, std::nullopt, 6);
  training_.AddAllReduce(kCalled + kMs, Interval{kCalled + 2 * kMs, kCalled + 3 * kMs}, 7);
  training_.rank().end = kLongAfter;
  EXPECT_TRUE(Hung().empty()) << "a later operation of the communicator ran";
  const std::uint32_t other = training_.builder().AddCommunicator(4, 1, 0, 0xDEF);
  training_.rank().collectives.communicator.back() = other;
  EXPECT_EQ(Hung().size(), 1U) << "one of another communicator says nothing";
}

}  // namespace
}  // namespace traceinject
