// SPDX-License-Identifier: Apache-2.0
// The verdict on a long run: 5 million operations and as many calls.
#include <benchmark/benchmark.h>

#include <string>

#include "analyzer/verdict/judge_run.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

void Judge(const TrainingPlan& plan, benchmark::State& state) {
  traceinject::Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  const RunAnalysis analysis = AnalyzeRun(run, {}, Depth::kCauses);
  for (auto _ : state) benchmark::DoNotOptimize(JudgeRun(analysis, {}));
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(run.ranks[0].api.size() * 2));
}

void BM_Verdict(benchmark::State& state) {
  TrainingPlan plan;
  plan.steps = 62'500;
  plan.load_ns = 25'000'000;
  Judge(plan, state);
}
BENCHMARK(BM_Verdict)->Unit(benchmark::kMillisecond)->Iterations(1);

// Kernels of all kinds that could take less time, each in a fifth of the operations or more.
void BM_VerdictOnKernels(benchmark::State& state) {
  GemmShape scores;
  scores.m = scores.n = 1024;
  scores.k = 128;
  scores.batch = 48;
  scores.trans_a = true;
  scores.type_a = scores.type_b = scores.type_c = 0;
  GemmShape linear = scores;
  linear.k = 1000;
  linear.batch = 1;
  linear.type_a = linear.type_b = linear.type_c = 14;
  const std::string elementwise = "vectorized_elementwise_kernel<4, ";
  TrainingPlan plan;
  plan.steps = 62'500;
  plan.layer = {{"ampere_sgemm_128x64_nn", 200'000, scores},
                {elementwise + "Mul>", 50'000},
                {"softmax_warp_forward<float, float, float, 10, false, false>", 50'000},
                {"ampere_sgemm_128x64_nn", 200'000, scores},
                {elementwise + "Add>", 50'000},
                {elementwise + "Tanh>", 50'000},
                {elementwise + "Pow>", 50'000},
                {"cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1", 300'000, linear}};
  Judge(plan, state);
}
BENCHMARK(BM_VerdictOnKernels)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace traceinject
