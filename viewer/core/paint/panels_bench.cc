// SPDX-License-Identifier: Apache-2.0
// What the panels ask of a run of ten million events: statistics, search, overview, details.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/find.h"
#include "analyzer/view/rows/statistics.h"
#include "viewer/core/timeline/overview.h"

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

// Half of the events are the calls that launched the others.
struct LaunchedRun {
  traceinject::Run run;
  RowModel model;
  Links links;
  std::uint32_t calls = kNone;  // their row
};

const LaunchedRun& Launched() {
  static const LaunchedRun* const launched = [] {
    RankBuilder builder;
    for (TimeNs i = 0; i < kEvents / 2; ++i) {
      const std::uint32_t call = builder.AddApi(i * 5'000, i * 5'000 + 2'000, "cudaLaunchKernel");
      builder.AddKernel(i * 5'000 + 9'000, i * 5'000 + 13'000, "void gemm<int>(int)", call);
    }
    builder.rank().end = TimeNs{kEvents} * 5'000;
    auto* const made = new LaunchedRun;  // the links point into it
    made->run.ranks.push_back(std::move(builder.rank()));
    made->model = BuildRows(made->run);
    made->links = Links(made->run, made->model);
    for (std::uint32_t row = 0; row < made->model.rows.size(); ++row) {
      if (made->model.rows[row].kind == RowKind::kCalls) made->calls = row;
    }
    return made;
  }();
  return *launched;
}

void BM_SelectACall(benchmark::State& state) {
  const LaunchedRun& launched = Launched();
  std::mt19937 random(1);
  for (auto _ : state) {
    const EventRef call{launched.calls, 0, static_cast<std::uint32_t>(random() % (kEvents / 2))};
    benchmark::DoNotOptimize(
        EventDetails(launched.run, launched.model, call, launched.links.Of(call)));
  }
}
BENCHMARK(BM_SelectACall)->Unit(benchmark::kMicrosecond);

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
