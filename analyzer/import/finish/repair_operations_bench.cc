// SPDX-License-Identifier: Apache-2.0
// What the checks of the records cost.
#include <benchmark/benchmark.h>

#include "analyzer/import/finish/repair_operations.h"

namespace traceinject {
namespace {

// Kernels of 4 us, one every 5 us, on three streams, launched 20 ms before by two threads.
Rank MakeRank(std::uint32_t operations) {
  Rank rank;
  rank.closed = true;
  rank.threads.resize(2);
  rank.streams.resize(3);
  rank.shapes.resize(200);
  rank.api_names = {{ApiDomain::kRuntime, ApiClass::kLaunch, "cudaLaunchKernel"}};
  rank.devices.resize(1);
  GpuOps& ops = rank.devices[0].ops;
  for (std::uint32_t i = 0; i < operations; ++i) {
    const TimeNs called = TimeNs{5'000} * i;
    rank.api.start.push_back(called);
    rank.api.end.push_back(called + 3'000);
    rank.api.thread.push_back(i % 10 == 0 ? 1 : 0);
    rank.api.name.push_back(0);
    rank.api.correlation.push_back(i + 1);
    rank.api.result.push_back(0);
    ops.start.push_back(called + 20'000'000);
    ops.end.push_back(called + 20'004'000 - i % 997);
    ops.kind.push_back(OpKind::kKernel);
    ops.kernel_class.push_back(KernelClass::kGemm);
    ops.stream.push_back(i % 20 == 0 ? 1 : i % 7 == 0 ? 2 : 0);
    ops.detail.push_back(i % 200);
    ops.correlation.push_back(i + 1);
    ops.launch.push_back(i);
    ops.graph_node.push_back(kNone);
  }
  rank.end = TimeNs{5'000} * operations + 30'000'000;
  return rank;
}

void RepairWholeRecords(benchmark::State& state) {
  Rank rank = MakeRank(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    rank.trust = {};
    RepairOperations(rank);
  }
  if (rank.trust.corrupt_durations + rank.trust.wrong_links + rank.trust.lost_operations != 0)
    state.SkipWithError("records that are whole were found damaged");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(RepairWholeRecords)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject

BENCHMARK_MAIN();
