// SPDX-License-Identifier: Apache-2.0
// The verdict on a long run: 5 million operations and as many calls.
#include <benchmark/benchmark.h>

#include "analyzer/verdict/add_verdict.h"
#include "analyzer/verdict/simulated_training.h"

namespace traceinject {
namespace {

void BM_Verdict(benchmark::State& state) {
  TrainingPlan plan;
  plan.steps = 62'500;
  plan.load_ns = 25'000'000;
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  const Report report = BuildReport(run, {});
  for (auto _ : state) {
    Report judged = report;
    AddVerdict(run, {}, {}, judged);
    benchmark::DoNotOptimize(judged);
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(run.ranks[0].api.size() * 2));
}
BENCHMARK(BM_Verdict)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace traceinject
