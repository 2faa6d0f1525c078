// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/merge/merge_tables.h"
#include "analyzer/merge/testing/job_files.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/match/align_run.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// A row of what the operations of a job leave empty, and rows that end in nothing.
void AddTheRest(RunDbFixture& file, int rank) {
  const std::int64_t tid = 100 + rank;
  file.AddMemcpy({.start_ns = 3 * kMs, .dur_ns = 10, .bytes = 8});
  file.AddMemset({.start_ns = 3 * kMs, .dur_ns = 10, .bytes = 8});
  file.AddKernel({.start_ns = 4 * kMs, .dur_ns = 10, .name = "in a graph", .graph_node = 9});
  file.AddSync({.start_ns = 1, .dur_ns = 2, .tid = tid, .event = 3, .stream = 7});
  file.AddNvtx({.start_ns = 10, .dur_ns = std::nullopt, .domain = "d", .tid = tid, .category = 2});
  file.Execute("INSERT INTO nvtx_category VALUES (1, 2, 'c')");
  file.AddPlan({.collective = 2,
                .time_ns = 12 * kMs,
                .tid = tid,
                .launch_start_ns = 11 * kMs,
                .launch_dur_ns = 50});
  file.Execute(
      "INSERT INTO nccl_setup (id, proc, communicator, rank, size, device, network, nvls) "
      "VALUES (1, 1, 1, 0, 2, 0, 1, 0)");
  file.Execute(
      "INSERT INTO nccl_link (id, proc, setup, rank, sends, transport, channels) "
      "VALUES (1, 1, 1, 0, 1, 1, 4)");
  file.AddMemoryOperation({.time_ns = 5, .bytes = 7});
  file.AddGemm({.start_ns = 1, .dur_ns = 2, .m = 3 + rank, .tid = tid});
  file.AddAttention({.start_ns = 5, .dur_ns = std::nullopt, .tid = tid});
  const std::uint32_t loader = file.AddDataLoader({.workers = 2});
  file.AddDataWait({.start_ns = 7, .dur_ns = 8, .tid = tid, .loader = loader, .batch = 0});
  file.AddHostSpan({.start_ns = 8, .dur_ns = 9, .tid = tid});
  file.AddWorker({.loader = loader, .start_ns = 1, .end_ns = 9});
  file.AddWorkerSample({.time_ns = 6});
  file.AddDeviceSample({.time_ns = 6, .power_mw = 5});
  file.AddAllocatorSample({.time_ns = 6, .retries = 0});
  // Of one set in one process, of another one in the next.
  const std::uint32_t set =
      file.AddCounterSet(rank == 0 ? "pm_sampling" : "gpm", 1000, {"sm_active", "dram_read"});
  file.AddCounterSamples(
      {.start_ns = 100 * kMs, .set = set, .period_ns = 1000, .values = {{rank + 1, 5}, {7, 9}}});
  file.AddHostSample({.time_ns = 6, .tid = tid});
  file.AddProfilerRange({.start_ns = 6, .tid = tid});
  file.AddStackSample(
      {.time_ns = 6, .frames = {{}, {.function = "load", .line = 3 + rank}}, .tid = tid});
  file.Execute("INSERT INTO device_slow_sample (time, proc, device) VALUES (6, 1, 0)");
  file.Execute("INSERT INTO clock_pair VALUES (1, 0, 50, 50, 50, 20), (1, 1000, 1050, 0, 0, NULL)");
  file.AddGap(490 * kMs, std::nullopt, "max_size");
  file.AddHealth("kernel", "seen", 40 + rank);
  file.AddFact("env", "RANK", std::to_string(rank));
}

class MergeRunTest : public testing::Test {
 protected:
  std::string PathOf(int rank) { return folder_ / ("run.rank0000" + std::to_string(rank) + ".db"); }
  void Write(const RankFile& facts) {
    auto file = WriteRank(PathOf(facts.rank), facts);
    AddTheRest(file, facts.rank);
    file.Close();
  }
  Merged Merge() {
    auto merged = MergeRun({folder_ / "run.db"}, options_);
    EXPECT_TRUE(merged.ok()) << merged.error();
    return merged.ok() ? std::move(merged).value() : Merged();
  }
  std::string Refusal() {
    const auto merged = MergeRun({folder_ / "run.db"}, options_);
    EXPECT_FALSE(merged.ok());
    return merged.ok() ? "" : merged.error();
  }
  traceinject::Run Load(const std::string& path) {
    auto run = LoadRun({path}, {});
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }
  std::int64_t Number(const std::string& path, const std::string& sql) {
    const auto database = Database::Open(path, SQLITE_OPEN_READONLY, nullptr, path);
    auto rows = database.value().Prepare(sql);
    EXPECT_TRUE(rows.ok()) << rows.error();
    EXPECT_TRUE(rows.value().Step().ok());
    return rows.value().int64(0);
  }
  std::size_t Files() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  TemporaryFolder folder_;
  std::string output_ = folder_ / "merged.db";
  MergeOptions options_{.output = output_, .tool_version = "9.9", .reading = {}};
};

// But for what says which file it is.
void ExpectSame(const Rank& a, const Rank& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.process.pid, b.process.pid);
  EXPECT_EQ(a.process.host, b.process.host);
  EXPECT_EQ(a.tool_version, b.tool_version);
  EXPECT_EQ(a.closed, b.closed);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.end, b.end);
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t d = 0; d < a.devices.size(); ++d) {
    const GpuOps &x = a.devices[d].ops, &y = b.devices[d].ops;
    EXPECT_EQ(x.start, y.start);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.launch, y.launch);
    for (std::size_t op = 0; op < x.size(); ++op) {
      if (x.kind[op] != OpKind::kKernel) continue;
      EXPECT_EQ(a.string(a.shapes[x.detail[op]].name), b.string(b.shapes[y.detail[op]].name));
      EXPECT_EQ(x.graph_node[op] == kNone, y.graph_node[op] == kNone);
    }
    EXPECT_EQ(a.devices[d].uuid, b.devices[d].uuid);
    EXPECT_EQ(a.devices[d].samples.time, b.devices[d].samples.time);
    const CounterSamples &of_a = a.devices[d].counters, &of_b = b.devices[d].counters;
    EXPECT_EQ(of_a.source, of_b.source);
    EXPECT_EQ(of_a.start, of_b.start);
    EXPECT_EQ(of_a.end, of_b.end);
    ASSERT_EQ(of_a.columns.size(), of_b.columns.size());
    for (std::size_t column = 0; column < of_a.columns.size(); ++column) {
      EXPECT_EQ(of_a.columns[column].id, of_b.columns[column].id);
      for (std::size_t i = 0; i < of_a.size(); ++i)
        EXPECT_EQ(of_a.columns[column].value[i], of_b.columns[column].value[i]);
    }
  }
  EXPECT_EQ(a.api.start, b.api.start);
  EXPECT_EQ(a.api.end, b.api.end);
  EXPECT_EQ(a.nvtx.end, b.nvtx.end);
  EXPECT_EQ(a.collectives.start, b.collectives.start);
  EXPECT_EQ(a.collectives.communicator, b.collectives.communicator);
  EXPECT_EQ(a.collectives.plan, b.collectives.plan);
  EXPECT_EQ(a.plans.launch_end, b.plans.launch_end);
  ASSERT_EQ(a.gemms.size(), b.gemms.size());
  for (std::size_t i = 0; i < a.gemms.size(); ++i)
    EXPECT_EQ(a.gemm_shapes[a.gemms.shape[i]].m, b.gemm_shapes[b.gemms.shape[i]].m);
  EXPECT_EQ(a.attentions.start, b.attentions.start);
  EXPECT_EQ(a.data_waits.loader, b.data_waits.loader);
  EXPECT_EQ(a.step_marks.time, b.step_marks.time);
  EXPECT_EQ(a.worker_samples.worker, b.worker_samples.worker);
  EXPECT_EQ(a.clocks.realtime, b.clocks.realtime);
  ASSERT_EQ(a.gaps.size(), b.gaps.size());
  for (std::size_t i = 0; i < a.gaps.size(); ++i) EXPECT_EQ(a.gaps[i].start, b.gaps[i].start);
  ASSERT_EQ(a.health.size(), b.health.size());
  for (std::size_t i = 0; i < a.health.size(); ++i) EXPECT_EQ(a.health[i].value, b.health[i].value);
  ASSERT_EQ(a.facts.size(), b.facts.size());
  for (std::size_t i = 0; i < a.facts.size(); ++i) EXPECT_EQ(a.facts[i].value, b.facts[i].value);
  ASSERT_EQ(a.communicators.size(), b.communicators.size());
  for (std::size_t i = 0; i < a.communicators.size(); ++i)
    EXPECT_EQ(a.communicators[i].created, b.communicators[i].created);
}

TEST_F(MergeRunTest, OneFileReadsAsTheRecordingsDo) {
  for (int rank = 0; rank < 3; ++rank)
    Write({.rank = rank, .world_size = 3, .base_later_ns = (3 - rank) * 1'000});
  const Merged merged = Merge();
  EXPECT_EQ(merged.processes, 3U);
  EXPECT_TRUE(merged.notes.empty());
  EXPECT_EQ(static_cast<std::uintmax_t>(merged.bytes), fs::file_size(output_));
  const traceinject::Run apart = Load(folder_ / "run.db"), together = Load(output_);
  EXPECT_EQ(apart.base_ns, together.base_ns);
  EXPECT_EQ(together.ranks.front().schema_version, kSchemaVersion);
  ASSERT_EQ(together.ranks.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) ExpectSame(apart.ranks[i], together.ranks[i]);
}

TEST_F(MergeRunTest, AllRowsAreThereAndReferToRows) {
  for (int rank = 0; rank < 2; ++rank) Write({.rank = rank});
  const Merged merged = Merge();
  const auto database = Database::Open(output_, SQLITE_OPEN_READONLY, nullptr, output_);
  const auto tables = DescribeTables(database.value());
  ASSERT_TRUE(tables.ok());
  std::int64_t rows = 0;
  for (const MergeTable& table : tables.value()) {
    const std::string count = "SELECT count(*) FROM " + table.name;
    const std::int64_t of_one = Number(PathOf(0), count);
    EXPECT_GT(of_one, 0) << table.name << " is not tested";
    EXPECT_EQ(Number(output_, count), of_one + Number(PathOf(1), count)) << table.name;
    rows += Number(output_, count);
    for (const MergeColumn& column : table.columns) {
      if (column.kind != ColumnKind::kReference) continue;
      const std::string id = tables.value()[column.other].name == "process" ? "proc" : "id";
      EXPECT_EQ(Number(output_,
                       fmt::format("SELECT count(*) FROM {0} WHERE {1} IS NOT NULL AND "
                                   "{1} NOT IN (SELECT {2} FROM {3})",
                                   table.name, column.name, id, tables.value()[column.other].name)),
                0)
          << table.name << "." << column.name;
    }
  }
  EXPECT_EQ(merged.rows, rows);
  // Views go with it.
  EXPECT_EQ(Number(output_, "SELECT count(DISTINCT proc) FROM kernels"), 2);
}

TEST_F(MergeRunTest, TimesOfOtherHostsAreMovedAsAnalyzeMovesThem) {
  Write({.rank = 0, .host = "node-a"});
  Write({.rank = 1, .host = "node-b", .ahead_ns = 700 * kMs, .drift = 2e-5});
  const Merged merged = Merge();
  traceinject::Run apart = Load(folder_ / "run.db"), together = Load(output_);
  const std::vector<std::string> said = AlignRun(apart);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(merged.notes, said);
  for (std::size_t i = 0; i < 2; ++i) ExpectSame(apart.ranks[i], together.ranks[i]);
  EXPECT_EQ(AlignRun(together), said) << "what was done is said of the merged file, too";
  ExpectSame(apart.ranks[1], together.ranks[1]);
}

TEST_F(MergeRunTest, WhatAKilledProcessLeftIsReadAndStaysAsItIs) {
  Write({.rank = 0});
  RunDbFixture killed(
      PathOf(1), {.pid = 101, .rank = 1, .world_size = 2, .closed = false, .write_ahead = true});
  killed.AddLaunchedKernel({.start_ns = 10, .dur_ns = 5}, 1, 2);
  killed.Kill();
  const auto log_bytes = fs::file_size(PathOf(1) + "-wal");
  ASSERT_GT(log_bytes, 0U);
  Merge();
  const traceinject::Run apart = Load(folder_ / "run.db"), together = Load(output_);
  ASSERT_EQ(together.ranks.size(), 2U);
  EXPECT_FALSE(together.ranks[1].closed);
  for (std::size_t i = 0; i < 2; ++i) ExpectSame(apart.ranks[i], together.ranks[i]);
  EXPECT_EQ(fs::file_size(PathOf(1) + "-wal"), log_bytes);
}

TEST_F(MergeRunTest, BesideItsRecordingsAMergedFileAddsNothing) {
  Write({.rank = 0, .host = "node-a"});
  Write({.rank = 1, .host = "node-b", .ahead_ns = 700 * kMs, .drift = 2e-5});
  Merge();
  const traceinject::Run run = Load(folder_.path());
  ASSERT_EQ(run.ranks.size(), 2U);
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_NE(run.notes[0].find("2 of its processes were read from recordings next to it"),
            std::string::npos);
  const auto job = LoadJob({folder_.path()}, {});
  ASSERT_TRUE(job.ok());
  ASSERT_EQ(job.value().ranks.size(), 2U);
  EXPECT_EQ(job.value().ranks[1].path, PathOf(1));
  EXPECT_TRUE(job.value().notes.empty());
}

TEST_F(MergeRunTest, AnIdWithoutARowStaysWithout) {
  Write({.rank = 0});
  auto file = WriteRank(PathOf(1), {.rank = 1});
  file.Execute("INSERT INTO kernel VALUES (1, 1, 1, 77, 1, NULL), (1, 1, -1, 1, 1, NULL)");
  file.Close();
  Merge();
  const traceinject::Run together = Load(output_);
  ASSERT_EQ(together.notes.size(), 2U);
  EXPECT_NE(together.notes[0].find("1 row of the table 'kernel' left out: no row for the stream"),
            std::string::npos);
  EXPECT_NE(together.notes[1].find("no row for the kernel shape"), std::string::npos);
}

TEST_F(MergeRunTest, RowsThatBreakTheRulesOfTheSchemaAreCounted) {
  Write({.rank = 0});
  auto file = WriteRank(PathOf(1), {.rank = 1});
  file.Execute(
      "DROP VIEW workers; DROP VIEW worker_samples; DROP TABLE worker;"
      "CREATE TABLE worker (id INTEGER PRIMARY KEY, proc, pid, loader, start, end);"
      "INSERT INTO worker VALUES (1, 1, NULL, NULL, 5, NULL)");
  file.Close();
  EXPECT_EQ(
      Merge().notes,
      std::vector<std::string>{
          PathOf(1) + ": 1 row of the table 'worker' left out: they violate its constraints"});
}

// As they were written at the time.
TEST_F(MergeRunTest, RecordingsOfOlderVersionsBecomeOnesOfThisVersion) {
  for (const int version : {1, 2, 4}) {
    const std::string path = folder_ / fmt::format("version_{}.db", version);
    std::ifstream sql(fmt::format("{}/schema_version_{}/run.sql", TRACEINJECT_GOLDEN, version));
    const std::string text((std::istreambuf_iterator<char>(sql)), {});
    ASSERT_FALSE(text.empty());
    {
      const auto database =
          Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path);
      ASSERT_TRUE(database.value().Execute(text).ok());
    }
    options_.output = path + ".merged";
    const auto merged = MergeRun({path}, options_);
    ASSERT_TRUE(merged.ok()) << merged.error();
    const traceinject::Run old = Load(path), now = Load(options_.output);
    EXPECT_EQ(old.ranks.at(0).schema_version, version);
    ExpectSame(old.ranks.at(0), now.ranks.at(0));
    EXPECT_EQ(now.notes, old.notes);
    EXPECT_EQ(now.ranks[0].attentions.gradient, old.ranks[0].attentions.gradient);
  }
}

TEST_F(MergeRunTest, RealRecordingsOfVersionThree) {
  const std::string recordings = std::string(TRACEINJECT_RECORDINGS) + "/ddp_h200";
  const auto merged = MergeRun({recordings}, options_);
  ASSERT_TRUE(merged.ok()) << merged.error();
  const traceinject::Run apart = Load(recordings), together = Load(output_);
  ASSERT_EQ(together.ranks.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) ExpectSame(apart.ranks[i], together.ranks[i]);
}

TEST_F(MergeRunTest, WhatIsThereIsReplacedOnlyIfTold) {
  Write({.rank = 0});
  std::ofstream(output_) << "precious";
  EXPECT_NE(Refusal().find("the file already exists"), std::string::npos);
  EXPECT_EQ(fs::file_size(output_), 8U);
  options_.replace = true;
  Merge();
  EXPECT_GT(fs::file_size(output_), 8U);
  struct stat facts = {};
  ASSERT_EQ(stat(output_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U) << "as recordings are";
}

TEST_F(MergeRunTest, RecordingsAreNeverReplaced) {
  Write({.rank = 0});
  options_.replace = true;
  options_.output = PathOf(0);
  EXPECT_NE(Refusal().find("one of the input files"), std::string::npos);
  options_.output = folder_.path();
  EXPECT_NE(Refusal().find("this is a folder"), std::string::npos);
  options_.output = output_;
  std::ofstream(output_ + "-wal") << "what a killed process left";
  EXPECT_NE(Refusal().find("-wal next to it"), std::string::npos);
  EXPECT_EQ(Files(), 2U);
}

TEST_F(MergeRunTest, WhatIsBrokenOffLeavesNothing) {
  Write({.rank = 0});
  const std::atomic<bool> stop = true;
  options_.reading.stop = &stop;
  EXPECT_NE(Refusal().find("canceled"), std::string::npos);
  EXPECT_EQ(Files(), 1U);
}

TEST_F(MergeRunTest, AFolderThatCannotBeWrittenToIsAnError) {
  Write({.rank = 0});
  options_.output = folder_ / "nowhere/merged.db";
  EXPECT_NE(Refusal().find("cannot create a file there"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
