// SPDX-License-Identifier: Apache-2.0
// Large jobs: matching of all their operations, their clocks, and who waited for whom.
#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <utility>

#include "analyzer/ranks/causes/rank_waits.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

// Eight ranks a host in tensor-parallel groups, and data-parallel ones across the hosts.
JobPlan LargeJob(int ranks, int steps) {
  JobPlan plan;
  plan.tensor = 8;
  plan.data = ranks / 8;
  plan.steps = steps;
  return Disturbed(plan);
}

const SimulatedJob& Simulated(int ranks, int steps) {
  static std::map<std::pair<int, int>, SimulatedJob> jobs;
  const auto found = jobs.find({ranks, steps});
  if (found != jobs.end()) return found->second;
  return jobs[{ranks, steps}] = SimulateJob(LargeJob(ranks, steps));
}

std::int64_t Records(const Job& job) {
  std::size_t records = 0;
  for (const RankSummary& rank : job.ranks) {
    for (const GroupOperations& group : rank.groups) records += group.count();
  }
  return static_cast<std::int64_t>(records);
}

void BM_Simulate(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(
        &Simulated(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))));
}
BENCHMARK(BM_Simulate)
    ->Args({64, 250})
    ->Args({1024, 250})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_MatchRanks(benchmark::State& state) {
  const Job& job =
      Simulated(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))).job;
  for (auto _ : state) benchmark::DoNotOptimize(MatchRanks(job));
  state.counters["records"] = static_cast<double>(Records(job));
}
BENCHMARK(BM_MatchRanks)
    ->Args({64, 250})
    ->Args({1024, 250})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_AlignClocks(benchmark::State& state) {
  const Job& job =
      Simulated(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))).job;
  const RankMatches matches = MatchRanks(job);
  for (auto _ : state) benchmark::DoNotOptimize(AlignClocks(job, matches));
}
BENCHMARK(BM_AlignClocks)
    ->Args({64, 250})
    ->Args({1024, 250})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_FindWaits(benchmark::State& state) {
  const Job& job =
      Simulated(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))).job;
  const RankMatches matches = MatchRanks(job);
  const ClockAlignment clocks = AlignClocks(job, matches);
  for (auto _ : state) benchmark::DoNotOptimize(FindWaits(job, matches, clocks));
}
BENCHMARK(BM_FindWaits)
    ->Args({64, 250})
    ->Args({1024, 250})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// All that is said of a job; `straggler`: with a slow rank, whose costs are played.
void BM_AnalyzeJob(benchmark::State& state) {
  const bool straggler = state.range(2) != 0;
  JobPlan plan = LargeJob(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  if (straggler) {
    plan.straggler = 17;
    plan.slow_compute = 1.2;
  }
  const Job job = SimulateJob(plan).job;
  for (auto _ : state) benchmark::DoNotOptimize(AnalyzeJob(job, {.collectives = 0}));
  state.counters["records"] = static_cast<double>(Records(job));
}
BENCHMARK(BM_AnalyzeJob)
    ->Args({64, 100, 0})
    ->Args({64, 100, 1})
    ->Args({1024, 100, 0})
    ->Args({1024, 100, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// As many kernels, shapes, and lines as a summary holds; those of a straggler take longer.
void AddDetails(const JobPlan& plan, Job& job) {
  for (RankSummary& rank : job.ranks) {
    const bool slow = rank.rank == plan.straggler;
    const TimeNs each = slow ? 1'200'000 : 1'000'000;
    rank.kernels.clear();
    for (std::size_t kernel = 0; kernel < kMaxKernelFacts; ++kernel) {
      KernelFacts facts{"kernel_" + std::to_string(kernel), 2000, 2000 * each, each, 128, {}};
      for (std::int32_t shape = 0; shape < 2; ++shape) {
        ShapeFacts one{{{}, {128, shape + 1, 1, 256, 1, 1}}, 1000, 1000 * each, {}};
        for (std::size_t line = 0; line < kMaxLines; ++line)
          one.lines.push_back(
              {"model.py:" + std::to_string(kernel + line) + " in forward", 250 * each});
        facts.shapes.push_back(std::move(one));
      }
      rank.kernels.push_back(std::move(facts));
    }
    for (std::size_t line = 0; line < kMaxHostLines; ++line)
      rank.host_lines.push_back({"train.py:" + std::to_string(line) + " in step", each});
    rank.worker_lines = rank.host_lines;
  }
}

// The same with all that may be compared of a straggler and its peers; of 1: its GPU is slow, of 2:
// its host.
void BM_AnalyzeDetailedJob(benchmark::State& state) {
  JobPlan plan = LargeJob(static_cast<int>(state.range(0)), 100);
  plan.straggler = 17;
  if (state.range(1) == 1)
    plan.slow_compute = 1.2;
  else
    plan.data_wait_ns = 8'000'000;
  Job job = SimulateJob(plan).job;
  AddDetails(plan, job);
  for (auto _ : state) benchmark::DoNotOptimize(AnalyzeJob(job, {.collectives = 0}));
  state.counters["records"] = static_cast<double>(Records(job));
}
BENCHMARK(BM_AnalyzeDetailedJob)
    ->Args({1024, 1})
    ->Args({1024, 2})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// One communicator of all ranks, 10,000 operations each.
void BM_MatchOneLargeGroup(benchmark::State& state) {
  JobPlan plan;
  plan.data = 1024;
  plan.steps = 1250;
  plan.most_offset_ns = 2'000'000'000;
  plan.most_drift_ppm = 50;
  plan.missing = 0.001;
  const Job job = SimulateJob(plan).job;
  for (auto _ : state) benchmark::DoNotOptimize(MatchRanks(job));
  state.counters["records"] = static_cast<double>(Records(job));
}
BENCHMARK(BM_MatchOneLargeGroup)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject
