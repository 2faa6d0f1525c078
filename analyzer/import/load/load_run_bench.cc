// SPDX-License-Identifier: Apache-2.0
// Rows a second from run.db to columns: half kernels, half the calls that launched them, as a
// launch-bound run gives.
#include <benchmark/benchmark.h>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr std::int64_t kRows = 1'000'000;

void Build(const std::string& path) {
  RunDbFixture file(path);
  file.AddLaunchedKernel({.start_ns = 0, .dur_ns = 1}, 0, 1);
  // The rest in SQL, which is faster than a call a row. Every 1000th row lies out of order, as
  // CUPTI delivers them.
  file.Execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) "
      "INSERT INTO api SELECT i * 5000, 3000, 1, 1, i + 1, 0 FROM n;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) "
      "INSERT INTO kernel SELECT i * 5000 + 9000 - (i % 1000 = 0) * 100000, 4000, 1, 1, i + 1, "
      "NULL FROM n;");
  file.Close();
}

void LoadMillionRows(benchmark::State& state) {
  const TemporaryFolder folder;
  Build(folder / "run.db");
  for (auto _ : state) {
    const auto run = LoadRun({folder / "run.db"}, {});
    if (!run.ok()) return state.SkipWithError(run.error().c_str());
    benchmark::DoNotOptimize(run.value().ranks.data());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(LoadMillionRows)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace traceinject

BENCHMARK_MAIN();
