// SPDX-License-Identifier: Apache-2.0
// The page of a run of 10 million events: 5 million operations and as many calls. Its size is a
// counter.
#include <benchmark/benchmark.h>

#include <string>

#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

void BM_WriteHtml(benchmark::State& state) {
  TrainingPlan plan;
  plan.steps = 62'500;
  plan.load_ns = 25'000'000;
  Run run;
  run.ranks = {SimulatedTraining(plan).rank()};
  const auto events = static_cast<double>(2 * run.ranks[0].api.size());
  const JudgedReport found = BuildJudgedReport(run, ForPage({}));
  std::size_t bytes = 0;
  for (auto _ : state) bytes = WriteHtml(found.report, found.ranks, {}).size();
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["events"] = events;
}
BENCHMARK(BM_WriteHtml)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject
