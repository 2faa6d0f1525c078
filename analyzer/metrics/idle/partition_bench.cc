// SPDX-License-Identifier: Apache-2.0
// Partition and gaps of a long run: the two passes that see every operation of a device.
#include <benchmark/benchmark.h>

#include <random>

#include "analyzer/metrics/idle/gaps.h"
#include "analyzer/metrics/idle/partition.h"

namespace traceinject {
namespace {

struct LongRun {
  GpuOps ops;
  ApiCalls api;
  Interval window;
};

// Three streams' worth of compute, communication and copies with gaps between, one launch call
// each.
LongRun MakeRun(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_int_distribution<TimeNs> step(500, 12'000), length(1'000, 15'000),
      ahead(2'000, 40'000);
  std::uniform_int_distribution<int> kind(0, 9);
  LongRun run;
  TimeNs start = 0, last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    start += step(random);
    const int which = kind(random);
    const TimeNs end = start + length(random);
    run.ops.start.push_back(start);
    run.ops.end.push_back(end);
    run.ops.kind.push_back(which == 0 ? OpKind::kMemcpy : OpKind::kKernel);
    run.ops.kernel_class.push_back(which == 1 ? KernelClass::kComm : KernelClass::kGemm);
    run.ops.launch.push_back(static_cast<std::uint32_t>(i));
    run.api.start.push_back(start - ahead(random));
    last = std::max(last, end);
  }
  run.window = {run.ops.start.front(), last};
  return run;
}

const LongRun& Run(std::size_t count) {
  static const LongRun run = MakeRun(count);
  return run;
}

constexpr std::size_t kOps = 10'000'000;

void BM_Partition(benchmark::State& state) {
  const LongRun& run = Run(kOps);
  for (auto _ : state) benchmark::DoNotOptimize(PartitionOf(run.ops, run.window));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOps));
}
BENCHMARK(BM_Partition)->Unit(benchmark::kMillisecond);

void BM_Gaps(benchmark::State& state) {
  const LongRun& run = Run(kOps);
  for (auto _ : state) benchmark::DoNotOptimize(FindGaps(run.ops, run.api, {run.window}, 10));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOps));
}
BENCHMARK(BM_Gaps)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject
