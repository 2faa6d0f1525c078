// SPDX-License-Identifier: Apache-2.0
// Steps without marks in a long run of a transformer: what a report waits for before it can begin.
#include <benchmark/benchmark.h>

#include <string>

#include "analyzer/metrics/steps/structure_steps.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr int kLayers = 32, kParts = 10, kOptimizerKernels = 30;

// Kernels of 40 shapes, each with its launch call.
Rank MakeRun(std::size_t operations) {
  RankBuilder builder;
  Rank& rank = builder.rank();
  for (int shape = 0; shape < 40; ++shape) {
    rank.strings.push_back("kernel_" + std::to_string(shape));
    KernelShape known;
    known.name = static_cast<std::uint32_t>(shape);
    known.kernel_class = shape == 39 ? KernelClass::kOptimizer : KernelClass::kGemm;
    rank.shapes.push_back(known);
  }
  GpuOps& ops = builder.ops();
  const auto add = [&](int shape) {
    const auto number = static_cast<std::uint32_t>(ops.size());
    const TimeNs start = TimeNs{10'000} * number;
    rank.api.start.push_back(start - 5'000);
    rank.api.end.push_back(start - 3'000);
    rank.api.thread.push_back(0);
    rank.api.name.push_back(0);
    rank.api.correlation.push_back(number + 1);
    rank.api.result.push_back(0);
    ops.start.push_back(start);
    ops.end.push_back(start + 8'000);
    ops.kind.push_back(OpKind::kKernel);
    ops.kernel_class.push_back(rank.shapes[static_cast<std::size_t>(shape)].kernel_class);
    ops.stream.push_back(0);
    ops.detail.push_back(static_cast<std::uint32_t>(shape));
    ops.correlation.push_back(number + 1);
    ops.launch.push_back(number);
    ops.graph_node.push_back(kNone);
  };
  while (ops.size() < operations) {
    add(0);
    for (int layer = 0; layer < kLayers; ++layer)
      for (int part = 0; part < kParts; ++part) add(1 + part);
    add(11);
    for (int layer = 0; layer < kLayers; ++layer)
      for (int part = 0; part < 2 * kParts; ++part) add(12 + part);
    for (int kernel = 0; kernel < kOptimizerKernels; ++kernel) add(39);
  }
  return std::move(builder.rank());
}

void BM_StructureSteps(benchmark::State& state) {
  const Rank rank = MakeRun(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(FindStructureSteps(rank, rank.devices[0].ops));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_StructureSteps)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace traceinject
