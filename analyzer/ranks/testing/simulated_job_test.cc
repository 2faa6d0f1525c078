// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/simulated_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace traceinject {
namespace {

JobPlan Plan(int tensor, int data, int pipeline, bool sharded = false) {
  JobPlan plan;
  plan.tensor = tensor;
  plan.data = data;
  plan.pipeline = pipeline;
  plan.sharded = sharded;
  plan.steps = 5;
  return plan;
}

// Every way of working that the simulation knows, small.
std::vector<JobPlan> Layouts() {
  std::vector<JobPlan> plans = {Plan(1, 2, 1), Plan(1, 8, 1),       Plan(2, 4, 1),
                                Plan(8, 1, 1), Plan(1, 4, 1, true), Plan(2, 4, 1, true),
                                Plan(1, 1, 2), Plan(2, 2, 4)};
  for (const int micro_batches : {1, 2, 3, 4, 9}) {
    plans.push_back(Plan(1, 2, 4));
    plans.back().micro_batches = micro_batches;
  }
  return plans;
}

const KernelFacts& Kernel(const RankSummary& rank, std::string_view name) {
  return *std::find_if(rank.kernels.begin(), rank.kernels.end(),
                       [&](const KernelFacts& one) { return one.name.find(name) == 0; });
}

TimeNs Idle(const RankSummary& rank, std::size_t step, IdleCause cause) {
  return rank.steps[step].idle_ns[static_cast<std::size_t>(cause)];
}

TEST(SimulatedJobTest, EveryRankEndsEveryStepAndItsPartsAddUp) {
  for (const JobPlan& plan : Layouts()) {
    const SimulatedJob simulated = SimulateJob(plan);
    ASSERT_EQ(simulated.job.ranks.size(), static_cast<std::size_t>(plan.ranks()));
    EXPECT_EQ(simulated.truth.step_ends.size(), 5u);
    for (const RankSummary& rank : simulated.job.ranks) {
      ASSERT_EQ(rank.steps.size(), 5u) << rank.rank;
      EXPECT_TRUE(rank.hung.empty());
      for (const StepFacts& step : rank.steps) {
        const TimeNs idle = std::accumulate(step.idle_ns.begin(), step.idle_ns.end(), TimeNs{0});
        EXPECT_EQ(step.compute_ns + step.exposed_communication_ns + idle,
                  step.time.end - step.time.start);
        EXPECT_GT(step.compute_ns, 0);
        EXPECT_GT(step.kernels, 0);
        EXPECT_TRUE(std::all_of(step.idle_ns.begin(), step.idle_ns.end(),
                                [](TimeNs part) { return part >= 0; }));
      }
    }
  }
}

// By communicator, pair and number: the rows of one operation.
struct Row {
  TimeNs start = 0, end = 0, wait_ns = 0, transfer_ns = 0;
  std::string function;
  bool last = false;
};
using Operations = std::map<std::tuple<std::uint64_t, int, std::uint32_t>, std::vector<Row>>;

Operations Collect(const SimulatedJob& simulated) {
  Operations operations;
  for (std::size_t r = 0; r < simulated.job.ranks.size(); ++r) {
    const RankSummary& rank = simulated.job.ranks[r];
    for (std::size_t g = 0; g < rank.groups.size(); ++g) {
      const GroupOperations& group = rank.groups[g];
      const GroupTruth& truth = simulated.truth.ranks[r].groups[g];
      for (std::size_t i = 0; i < group.count(); ++i) {
        const int pair = group.peer[i] < 0 ? -1 : std::min(group.peer[i], group.rank);
        operations[{group.hash, pair, truth.operation[i]}].push_back(
            {group.start[i], group.end[i], truth.wait_ns[i], truth.transfer_ns[i],
             rank.kinds[group.kind[i]].function, truth.last[i]});
      }
    }
  }
  return operations;
}

TEST(SimulatedJobTest, NoRankLeavesAnOperationBeforeAllHaveEntered) {
  for (const JobPlan& plan : Layouts()) {
    for (const auto& [key, rows] : Collect(SimulateJob(plan))) {
      EXPECT_GE(rows.size(), 2u);
      if (rows[0].function == "Broadcast") continue;
      TimeNs last = 0;
      int last_ranks = 0;
      for (const Row& row : rows) last = std::max(last, row.start);
      for (const Row& row : rows) {
        EXPECT_EQ(row.wait_ns, last - row.start);
        EXPECT_GE(row.end, last + row.transfer_ns);
        EXPECT_LE(row.end, last + row.transfer_ns + plan.end_noise_ns);
        last_ranks += row.last;
      }
      EXPECT_GE(last_ranks, 1);
    }
  }
}

TEST(SimulatedJobTest, OnlyTheLastBucketsAreExposed) {
  const SimulatedJob simulated = SimulateJob(Plan(1, 8, 1));
  const GroupOperations& group = simulated.job.ranks[3].groups[0];
  const std::size_t end = group.count(), buckets = 8;
  EXPECT_EQ(group.exposed_ns[end - buckets], 0);
  EXPECT_GT(group.exposed_ns[end - 1], (group.end[end - 1] - group.start[end - 1]) * 9 / 10);
}

// (m + p - 1) x (forward + backward), and what the exchanges and the end of the step take.
TEST(SimulatedJobTest, APipelineHasItsBubble) {
  JobPlan plan = Plan(1, 1, 4);
  plan.noise = 0;
  plan.activation_bytes = 1024;
  const double stage = 3.0 * 8 * 1'000'000;
  EXPECT_NEAR(SimulateJob(plan).truth.step_ns(), 11 * stage + 2'200'000, 1'500'000);
}

TEST(SimulatedJobTest, AStragglerCostsWhatItIsSlower) {
  JobPlan plan = Plan(1, 8, 1);
  plan.straggler = 5;
  plan.slow_compute = 1.2;
  const SimulatedJob slow = SimulateJob(plan), healthy = SimulateJob(Healthy(plan));
  const double compute = 24e6 + 2e6;
  EXPECT_NEAR(slow.truth.step_ns() - healthy.truth.step_ns(), 0.2 * compute, 0.02 * compute);
  const auto median = [&](std::size_t rank) {
    return static_cast<double>(Kernel(slow.job.ranks[rank], "nvjet_hsh_128").median_ns);
  };
  EXPECT_NEAR(median(5) / median(2), 1.2, 0.02);
  EXPECT_NEAR(slow.job.ranks[5].busy_sm_clock_mhz, 1980 / 1.2, 6);
  // The straggler is late, the others wait.
  const auto wait = [&](std::size_t rank) {
    const std::vector<TimeNs>& all = slow.truth.ranks[rank].groups[0].wait_ns;
    return std::accumulate(all.begin(), all.end(), TimeNs{0});
  };
  EXPECT_LT(wait(5) * 10, wait(2));
}

TEST(SimulatedJobTest, MoreWorkIsMoreKernelsOfTheSameLength) {
  JobPlan plan = Plan(1, 4, 1);
  plan.straggler = 1;
  plan.more_work = 1.5;
  const SimulatedJob simulated = SimulateJob(plan);
  const KernelFacts &more = Kernel(simulated.job.ranks[1], "nvjet_hsh_128"),
                    &usual = Kernel(simulated.job.ranks[0], "nvjet_hsh_128");
  EXPECT_NEAR(static_cast<double>(more.count) / static_cast<double>(usual.count), 1.5, 0.01);
  EXPECT_NEAR(static_cast<double>(more.median_ns) / static_cast<double>(usual.median_ns), 1, 0.02);
}

TEST(SimulatedJobTest, WaitsForDataAreIdleTimeOfThatCause) {
  JobPlan plan = Plan(1, 4, 1);
  plan.straggler = 2;
  plan.data_wait_ns = 7'000'000;
  const SimulatedJob simulated = SimulateJob(plan);
  EXPECT_NEAR(static_cast<double>(Idle(simulated.job.ranks[2], 3, IdleCause::kDataWait)), 7e6, 3e5);
  EXPECT_EQ(Idle(simulated.job.ranks[1], 3, IdleCause::kDataWait), 0);
  EXPECT_NEAR(simulated.truth.step_ns() - SimulateJob(Healthy(plan)).truth.step_ns(), 7e6, 3e5);
}

TEST(SimulatedJobTest, ImbalanceHitsAnotherRankInEachStep) {
  JobPlan plan = Plan(1, 8, 1);
  plan.steps = 40;
  plan.imbalance = 0.5;
  const SimulatedJob simulated = SimulateJob(plan);
  std::map<std::size_t, int> slowest;
  for (std::size_t step = 1; step < 40; ++step) {
    std::size_t most = 0;
    for (std::size_t rank = 1; rank < 8; ++rank) {
      if (simulated.job.ranks[rank].steps[step].compute_ns >
          simulated.job.ranks[most].steps[step].compute_ns)
        most = rank;
    }
    ++slowest[most];
  }
  EXPECT_GE(slowest.size(), 6u);
}

TEST(SimulatedJobTest, ASlowLinkIsSlowWhereItsHostsMeet) {
  JobPlan plan = Plan(2, 4, 1);
  plan.ranks_per_host = 2;
  plan.transfer_noise = 0;
  const Operations healthy = Collect(SimulateJob(plan));
  plan.slow_link = {.first_host = 1, .second = 3, .factor = 3};
  std::map<std::string, std::pair<TimeNs, TimeNs>> transfers;
  for (const auto& [key, rows] : Collect(SimulateJob(plan))) {
    auto& [slow, usual] = transfers[rows[0].function + std::to_string(rows.size())];
    slow += rows[0].transfer_ns;
    usual += healthy.at(key)[0].transfer_ns;
  }
  EXPECT_NEAR(static_cast<double>(transfers["AllReduce4"].first),
              3.0 * static_cast<double>(transfers["AllReduce4"].second), 1e4);
  EXPECT_EQ(transfers["AllReduce2"].first, transfers["AllReduce2"].second);
}

// The transfers, which nothing planted here touches, are those of the healthy job.
TEST(SimulatedJobTest, APlantDoesNotChangeTheChanceOfTheRest) {
  JobPlan plan = Plan(1, 4, 1);
  plan.straggler = 1;
  plan.slow_compute = 1.5;
  const SimulatedJob planted = SimulateJob(plan), healthy = SimulateJob(Healthy(plan));
  EXPECT_EQ(planted.truth.ranks[0].groups[0].transfer_ns,
            healthy.truth.ranks[0].groups[0].transfer_ns);
  EXPECT_NE(SimulateJob(plan, 2).truth.ranks[0].groups[0].transfer_ns,
            healthy.truth.ranks[0].groups[0].transfer_ns);
}

TEST(SimulatedJobTest, ClocksAreOfHosts) {
  JobPlan plan = Plan(1, 8, 1);
  plan.ranks_per_host = 2;
  plan.most_offset_ns = 2'000'000'000;
  plan.most_drift_ppm = 50;
  const SimulatedJob simulated = SimulateJob(plan), plain = SimulateJob(Plan(1, 8, 1));
  const auto& truth = simulated.truth;
  EXPECT_EQ(truth.ranks[2].offset_ns, truth.ranks[3].offset_ns);
  EXPECT_NE(truth.ranks[2].offset_ns, truth.ranks[4].offset_ns);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    const std::vector<TimeNs>&shown = simulated.job.ranks[rank].groups[0].start,
          &true_times = plain.job.ranks[rank].groups[0].start;
    for (std::size_t i = 0; i < shown.size(); ++i)
      EXPECT_EQ(shown[i], truth.LocalTime(rank, static_cast<double>(true_times[i])));
  }
}

TEST(SimulatedJobTest, RecordsAreMissingAtRandom) {
  JobPlan plan = Plan(1, 8, 1);
  plan.steps = 100;
  plan.missing = 0.01;
  std::int64_t dropped = 0;
  for (const RankSummary& rank : SimulateJob(plan).job.ranks) {
    dropped += rank.dropped;
    EXPECT_EQ(rank.groups[0].count() + static_cast<std::size_t>(rank.dropped), 100u * 8 + 2);
  }
  EXPECT_NEAR(static_cast<double>(dropped), 64, 24);
}

TEST(SimulatedJobTest, ARecordingOfAPartHasThatPart) {
  JobPlan plan = Plan(1, 4, 1);
  plan.steps = 20;
  plan.parts = {{1, 0.5, 1}, {2, 0, 0.25}};
  const Job job = SimulateJob(plan).job;
  EXPECT_NEAR(static_cast<double>(job.ranks[1].steps.size()), 10, 1);
  EXPECT_NEAR(static_cast<double>(job.ranks[2].steps.size()), 5, 1);
  EXPECT_GE(job.ranks[1].groups[0].start.front(), job.ranks[1].start);
  EXPECT_LE(job.ranks[2].groups[0].end.back(), job.ranks[2].end);
  EXPECT_EQ(job.ranks[1].groups[0].step.back(), job.ranks[1].steps.size() - 1);
}

TEST(SimulatedJobTest, WhereOneDiesTheOthersHang) {
  JobPlan plan = Plan(2, 4, 1);
  plan.dead = 5;
  plan.dead_step = 3;
  const Job job = SimulateJob(plan).job;
  for (const RankSummary& rank : job.ranks) {
    EXPECT_EQ(rank.steps.size(), 3u);
    EXPECT_FALSE(rank.closed);
    EXPECT_EQ(rank.hung.empty(), rank.rank == 5);
  }
  EXPECT_LT(job.ranks[5].end, job.ranks[0].end);
}

TEST(SimulatedJobTest, SequenceNumbersCountPerFunction) {
  JobPlan plan = Plan(1, 2, 1, true);
  plan.tell_sequences = true;
  const RankSummary rank = SimulateJob(plan).job.ranks[0];
  std::map<std::string, std::int64_t> next;
  for (std::size_t i = 0; i < rank.groups[0].count(); ++i)
    EXPECT_EQ(rank.groups[0].sequence[i], next[rank.kinds[rank.groups[0].kind[i]].function]++);
  EXPECT_EQ(next.size(), 3u);
}

TEST(SimulatedJobTest, ContendedKernelsStartLateAlthoughLaunchedInTime) {
  JobPlan plan = Plan(1, 4, 1);
  plan.contended = 1;
  plan.contention_ns = 900'000;
  const SimulatedJob planted = SimulateJob(plan), healthy = SimulateJob(Healthy(plan));
  const auto delay = [](const SimulatedJob& simulated, std::size_t row) {
    const GroupOperations& group = simulated.job.ranks[1].groups[0];
    return group.start[row] - group.launch[row];
  };
  EXPECT_EQ(delay(planted, 11) - delay(healthy, 11), 900'000);
  EXPECT_EQ(delay(planted, 4), delay(healthy, 4));
}

}  // namespace
}  // namespace traceinject
