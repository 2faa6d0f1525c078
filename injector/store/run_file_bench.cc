// SPDX-License-Identifier: Apache-2.0
// The writer path against SQLite itself, and the size of a row.
//
//   BM_RunFile     rows/s of RunFile::Write, half kernels and half API calls
//   BM_BareSqlite  the same rows into the same two tables, one prepared statement each, in
//   transactions of the same size BM_Bytes*      bytes_per_row of a finished file in which only
//   that table grew
#include <benchmark/benchmark.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "injector/store/run_file.h"
#include "schemas/run_db_sql.h"

namespace traceinject {
namespace {

// What a training run of an hour looks like: see the comment on each value.
class EventSource {
 public:
  KernelRow Kernel() {
    const std::int64_t dur = Duration();
    time_ns_ += dur + 500;
    return {time_ns_, dur, Stream(), Shape(), ++correlation_, 0};
  }

  ApiRow Api() {
    time_ns_ += 4000;
    return {time_ns_, Duration(), Stream(), Stream(), ++correlation_, 0};
  }

 private:
  std::int64_t Duration() { return 3000 + static_cast<std::int64_t>(random_() % 197'000); }
  std::uint32_t Stream() { return static_cast<std::uint32_t>(1 + random_() % 4); }
  std::uint32_t Shape() { return static_cast<std::uint32_t>(1 + random_() % 300); }

  std::mt19937 random_{1};
  std::int64_t time_ns_ = 900'000'000'000;  // a quarter of an hour in: times take six bytes
  std::uint64_t correlation_ = 4'000'000;
};

// A second of a launch-bound program.
constexpr std::size_t kRowsPerTable = 100'000;

Batch MakeBatch(EventSource* source, std::size_t kernels, std::size_t apis) {
  Batch batch;
  for (std::size_t i = 0; i < kernels; ++i) batch.kernels.push_back(source->Kernel());
  for (std::size_t i = 0; i < apis; ++i) batch.apis.push_back(source->Api());
  return batch;
}

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "store_bench.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Database() const { return path_ + "/run.db"; }

 private:
  std::string path_;
};

RunFile::Header BenchHeader() {
  RunFile::Header header;
  header.process.host = "bench";
  header.process.run_id = "bench";
  header.journal = RunFile::Journal::kWriteAhead;
  return header;
}

void BM_RunFile(benchmark::State& state) {
  const Folder folder;
  EventSource source;
  const Batch batch = MakeBatch(&source, kRowsPerTable, kRowsPerTable);
  std::string why;
  const auto file = RunFile::Create(folder.Database(), BenchHeader(), &why);
  if (!file) {
    state.SkipWithError(why.c_str());
    return;
  }
  for (auto _ : state) {
    if (!file->Write(batch)) state.SkipWithError(file->last_error().c_str());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * kRowsPerTable));
  if (!file->Finish(0)) state.SkipWithError(file->last_error().c_str());
}

void Insert(sqlite3_stmt* statement, const std::int64_t (&values)[5]) {
  for (int i = 0; i < 5; ++i) sqlite3_bind_int64(statement, i + 1, values[i]);
  sqlite3_step(statement);
  sqlite3_reset(statement);
}

void BM_BareSqlite(benchmark::State& state) {
  const Folder folder;
  EventSource source;
  const Batch batch = MakeBatch(&source, kRowsPerTable, kRowsPerTable);
  sqlite3* db = nullptr;
  sqlite3_open_v2(folder.Database().c_str(), &db,
                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF", nullptr, nullptr,
               nullptr);
  sqlite3_exec(db, k_run_db_sql, nullptr, nullptr, nullptr);
  sqlite3_stmt *kernel = nullptr, *api = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO kernel VALUES(?, ?, ?, ?, ?, NULL)", -1, &kernel, nullptr);
  sqlite3_prepare_v2(db, "INSERT INTO api VALUES(?, ?, ?, ?, ?, 0)", -1, &api, nullptr);
  for (auto _ : state) {
    sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr);
    for (const KernelRow& row : batch.kernels) {
      Insert(kernel, {row.start, row.dur, row.stream, row.shape,
                      static_cast<std::int64_t>(row.correlation)});
    }
    for (const ApiRow& row : batch.apis) {
      Insert(api, {row.start, row.dur, row.thread, row.name,
                   static_cast<std::int64_t>(row.correlation)});
    }
    if (sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
      state.SkipWithError(sqlite3_errmsg(db));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * kRowsPerTable));
  sqlite3_finalize(kernel);
  sqlite3_finalize(api);
  sqlite3_close(db);
}

// Bytes of a finished file with `batches` batches of that table, or less than 0.
std::int64_t FinishedBytes(std::size_t kernels, std::size_t apis, int batches) {
  const Folder folder;
  EventSource source;
  std::string why;
  const auto file = RunFile::Create(folder.Database(), BenchHeader(), &why);
  if (!file) return -1;
  for (int i = 0; i < batches; ++i) {
    if (!file->Write(MakeBatch(&source, kernels, apis))) return -1;
  }
  return file->Finish(0) ? file->bytes() : -1;
}

void BytesPerRow(benchmark::State& state, std::size_t kernels, std::size_t apis) {
  constexpr int kBatches = 10;
  double bytes_per_row = 0;
  for (auto _ : state) {
    const std::int64_t empty = FinishedBytes(0, 0, 0);
    const std::int64_t full = FinishedBytes(kernels, apis, kBatches);
    if (empty < 0 || full < 0) state.SkipWithError("cannot write a recording");
    bytes_per_row =
        static_cast<double>(full - empty) / static_cast<double>(kBatches * (kernels + apis));
  }
  state.counters["bytes_per_row"] = bytes_per_row;
}

void BM_BytesKernel(benchmark::State& state) { BytesPerRow(state, kRowsPerTable, 0); }
void BM_BytesApi(benchmark::State& state) { BytesPerRow(state, 0, kRowsPerTable); }

// A fixed number of batches, so that both write files of one size.
BENCHMARK(BM_RunFile)->Iterations(20)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_BareSqlite)->Iterations(20)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_BytesKernel)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BytesApi)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traceinject

BENCHMARK_MAIN();
