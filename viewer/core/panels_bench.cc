// SPDX-License-Identifier: Apache-2.0
// What the panels ask of a run of ten million events: statistics, search, overview.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "analyzer/metrics/rank_builder.h"
#include "viewer/core/find.h"
#include "viewer/core/overview.h"
#include "viewer/core/statistics.h"

namespace traceinject {
namespace {

constexpr int kEvents = 10'000'000, kNames = 200;
const std::atomic<bool> kGoOn = false;

struct LargeRun {
  traceinject::Run run;
  RowModel model;
  std::vector<std::uint32_t> rows;
};

const LargeRun& Large() {
  static const LargeRun large = [] {
    RankBuilder builder;
    std::mt19937 random(1);
    std::vector<std::string> names;
    for (int i = 0; i < kNames; ++i)
      names.push_back("void gemm_" + std::to_string(i) + "<int>(int)");
    TimeNs time = 0;
    for (int i = 0; i < kEvents; ++i) {
      const TimeNs length = 1 + static_cast<TimeNs>(random() % 20'000);
      builder.AddKernel(time, time + length, names[random() % kNames]);
      time += length + static_cast<TimeNs>(random() % 5'000);
    }
    builder.rank().end = time;
    LargeRun made;
    made.run.ranks.push_back(std::move(builder.rank()));
    made.model = BuildRows(made.run);
    made.rows = RowGroups(made.model).front().rows;
    return made;
  }();
  return large;
}

void BM_Statistics(benchmark::State& state) {
  const LargeRun& large = Large();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ComputeStatistics(
        large.run, large.model, {large.rows, large.model.start, large.model.end}, kGoOn));
  }
}
BENCHMARK(BM_Statistics)->Unit(benchmark::kMillisecond);

void BM_FindOneNameOfAll(benchmark::State& state) {
  FindQuery query;
  query.text = "gemm_7<";
  query.rows = Large().rows;
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindEvents(Large().run, Large().model, query, kGoOn));
  }
}
BENCHMARK(BM_FindOneNameOfAll)->Unit(benchmark::kMillisecond);

void BM_FindAll(benchmark::State& state) {
  FindQuery query;
  query.text = "gemm";
  query.rows = Large().rows;
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindEvents(Large().run, Large().model, query, kGoOn));
  }
}
BENCHMARK(BM_FindAll)->Unit(benchmark::kMillisecond);

void BM_Overview(benchmark::State& state) {
  for (auto _ : state) {
    Overview overview(Large().model);
    overview.Resize(1920, 40, 300);
    benchmark::DoNotOptimize(overview.Load(0, 0));
  }
}
BENCHMARK(BM_Overview)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject
