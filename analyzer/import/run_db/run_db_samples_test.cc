// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_samples.h"

#include <gtest/gtest.h>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/run_db/read_run_db.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class RunDbSamplesTest : public testing::Test {
 protected:
  RecordedFile Read() {
    const auto database = OpenRecording(path_);
    EXPECT_TRUE(database.ok());
    auto read = ReadRunDb(database.value(), progress_);
    EXPECT_TRUE(read.ok()) << read.error();
    return read.ok() ? std::move(read).value() : RecordedFile();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  ReadProgress progress_;
};

TEST_F(RunDbSamplesTest, EveryColumn) {
  RunDbFixture file(path_);
  file.AddDevice({.device = 1});
  file.Execute(
      "INSERT INTO device_sample VALUES (20, 1, 1, 1, 2, 3, 4, 5, 6, 7, 80000000000), (10, 1, 1, "
      "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
  file.Execute(
      "INSERT INTO device_slow_sample VALUES (20, 1, 1, 5, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)");
  file.Execute("INSERT INTO allocator_sample VALUES (15, 1, 1, 1, 2, 3, 4, 5, 6, NULL)");
  const auto loader = file.AddDataLoader({.workers = 2});
  file.AddWorker({.pid = 50, .loader = loader, .start_ns = -5, .end_ns = 90});
  file.AddWorker({.pid = 51});
  file.AddWorkerSample({.time_ns = 30, .worker = 2, .states = 4, .states_disk = 3});
  file.AddWorkerSample({.time_ns = 40, .worker = 1, .cpu_ns = 7, .read_bytes = 4096});
  file.AddStepMark({});  // the thread
  file.Execute(
      "INSERT INTO host_sample VALUES (10, 1, 1, 2, 3, 4, 5, 6), "
      "(5, 1, 1, NULL, NULL, NULL, NULL, NULL)");
  file.AddUnknownFact("gpu", "0.acs", "root only");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_TRUE(read.notes.empty());
  const Rank& rank = read.ranks.at(0);
  const DeviceSamples& samples = rank.devices.at(0).samples;
  EXPECT_EQ(samples.time, (std::vector<TimeNs>{10, 20}));
  EXPECT_EQ(samples.sm_clock_mhz[0], -1);
  EXPECT_EQ(samples.memory_used_bytes[0], -1);
  EXPECT_EQ(samples.sm_clock_mhz[1], 1);
  EXPECT_EQ(samples.memory_clock_mhz[1], 2);
  EXPECT_EQ(samples.power_mw[1], 3);
  EXPECT_EQ(samples.temperature_c[1], 4);
  EXPECT_EQ(samples.throttle_reasons[1], 5);
  EXPECT_EQ(samples.sm_utilisation_pct[1], 6);
  EXPECT_EQ(samples.memory_utilisation_pct[1], 7);
  EXPECT_EQ(samples.memory_used_bytes[1], 80'000'000'000);
  const AllocatorSamples& allocator = rank.devices.at(0).allocator;
  ASSERT_EQ(allocator.time, (std::vector<TimeNs>{15}));
  EXPECT_EQ(allocator.allocated_bytes[0], 1);
  EXPECT_EQ(allocator.reserved_bytes[0], 2);
  EXPECT_EQ(allocator.active_bytes[0], 3);
  EXPECT_EQ(allocator.peak_allocated_bytes[0], 4);
  EXPECT_EQ(allocator.peak_reserved_bytes[0], 5);
  EXPECT_EQ(allocator.retries[0], 6);
  EXPECT_EQ(allocator.ooms[0], -1);
  const DeviceSlowSamples& slow = rank.devices.at(0).slow_samples;
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow.pcie_generation[0], 5);
  EXPECT_EQ(slow.pcie_width[0], 16);
  std::int64_t expected = 1;
  for (const auto* column :
       {&slow.pcie_tx_bytes_s, &slow.pcie_rx_bytes_s, &slow.pcie_replays, &slow.nvlink_tx_bytes,
        &slow.nvlink_rx_bytes, &slow.nvlink_replays, &slow.nvlink_recoveries,
        &slow.nvlink_crc_errors, &slow.ecc_corrected, &slow.ecc_uncorrected})
    EXPECT_EQ((*column)[0], expected++);
  const HostSamples& host = rank.host_samples;
  EXPECT_EQ(host.time, (std::vector<TimeNs>{5, 10}));
  EXPECT_EQ(rank.threads.at(host.thread[0]).tid, 4242);
  EXPECT_EQ(host.runqueue_ns[0], -1);
  EXPECT_EQ(host.cpu_ns[1], 1);
  EXPECT_EQ(host.runqueue_ns[1], 2);
  EXPECT_EQ(host.minor_faults[1], 3);
  EXPECT_EQ(host.major_faults[1], 4);
  EXPECT_EQ(host.voluntary_switches[1], 5);
  EXPECT_EQ(host.involuntary_switches[1], 6);
  ASSERT_EQ(rank.workers.size(), 2U);
  EXPECT_EQ(rank.workers[0].pid, 50);
  EXPECT_EQ(rank.workers[0].loader, 0U);
  EXPECT_EQ(rank.workers[0].start, -5);
  EXPECT_EQ(rank.workers[0].end, 90);
  EXPECT_EQ(rank.workers[1].loader, kNone);
  EXPECT_EQ(rank.workers[1].end, kOpen);
  const WorkerSamples& workers = rank.worker_samples;
  EXPECT_EQ(workers.worker, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(workers.cpu_ns, (std::vector<std::int64_t>{-1, 7}));
  EXPECT_EQ(workers.read_bytes, (std::vector<std::int64_t>{-1, 4096}));
  EXPECT_EQ(workers.states_disk, (std::vector<std::int32_t>{3, 0}));
  ASSERT_EQ(rank.facts.size(), 1U);
  EXPECT_EQ(rank.facts[0].value, "");
  EXPECT_EQ(rank.facts[0].reason, "root only");
}

TEST_F(RunDbSamplesTest, RowsThatCannotBeRight) {
  RunDbFixture file(path_);
  file.AddDeviceSample({.device = 7});
  file.AddDevice({});
  file.AddDeviceSample({.time_ns = INT64_MAX});
  file.AddDeviceSample({.power_mw = -5});
  file.AddWorkerSample({.worker = 9});
  file.AddWorker({.loader = 9});
  file.AddWorkerSample({.worker = 1, .states = 2, .states_disk = 9});
  file.Execute("INSERT INTO host_sample VALUES (1, 99, 1, 2, 3, 4, 5, 6)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  ASSERT_EQ(rank.devices.at(0).samples.size(), 1U);
  EXPECT_EQ(rank.devices[0].samples.power_mw[0], -1);
  EXPECT_EQ(rank.host_samples.size(), 0U);
  EXPECT_EQ(rank.workers.at(0).loader, kNone);
  EXPECT_EQ(rank.worker_samples.states_disk, (std::vector<std::int32_t>{2}));
  EXPECT_EQ(read.notes.size(), 6U);
}

TEST_F(RunDbSamplesTest, VersionTwoHasNone) {
  RunDbFixture file(path_);
  file.Execute("COMMIT; PRAGMA user_version = 2; DROP TABLE device_sample");
  file.Execute("DROP TABLE device_slow_sample; DROP TABLE host_sample; DROP TABLE worker");
  file.Execute("DROP TABLE allocator_sample");
  file.Execute("DROP TABLE worker_sample; ALTER TABLE system_fact DROP COLUMN reason; BEGIN");
  file.Execute("INSERT INTO system_fact VALUES (1, 'env', 'NCCL_DEBUG', 'INFO')");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.ranks.at(0).schema_version, 2);
  EXPECT_EQ(read.ranks[0].facts.at(0).value, "INFO");
  EXPECT_EQ(read.ranks[0].facts[0].reason, "");
}

TEST_F(RunDbSamplesTest, VersionThreeWithoutItsTablesIsDamaged) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE host_sample");
  file.Close();
  const auto database = OpenRecording(path_);
  ASSERT_TRUE(database.ok());
  const auto read = ReadRunDb(database.value(), progress_);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("host_sample"), std::string::npos);
}

TEST_F(RunDbSamplesTest, TimesOfAllFilesHaveOneBase) {
  const std::string other = folder_ / "other.db";
  RunDbFixture first(path_, {.base_ns = 1'000'000'000, .rank = 0});
  first.Close();
  RunDbFixture second(other, {.base_ns = 1'000'000'500, .rank = 1});
  second.AddDevice({});
  second.AddDeviceSample({.time_ns = 10});
  second.AddHostSample({.time_ns = 20});
  second.AddWorker({.start_ns = 30, .end_ns = 40});
  second.AddWorkerSample({.time_ns = 50});
  second.Close();
  const auto run = LoadRun({path_, other}, {});
  ASSERT_TRUE(run.ok()) << run.error();
  const Rank& rank = run.value().ranks.at(1);
  EXPECT_EQ(rank.devices.at(0).samples.time.at(0), 510);
  EXPECT_EQ(rank.host_samples.time.at(0), 520);
  EXPECT_EQ(rank.workers.at(0).start, 530);
  EXPECT_EQ(rank.workers[0].end, 540);
  EXPECT_EQ(rank.worker_samples.time.at(0), 550);
}

TEST_F(RunDbSamplesTest, StacksShareTheirCallers) {
  RunDbFixture file(path_);
  const std::vector<RunDbFixture::Frame> outer = {{.function = "main", .line = 9, .module = "Net"}};
  std::vector<RunDbFixture::Frame> inner = outer;
  inner.push_back({.function = "load", .file = "data.py", .line = 41, .first_line = 40});
  file.AddStackSample({.time_ns = 20, .frames = inner, .repeats = 3, .span_ns = 30});
  file.AddStackSample({.time_ns = 10, .frames = outer});
  file.AddStackSample({.time_ns = 15, .kind = StackKind::kCall, .tid = 7, .correlation = 5});
  file.Close();
  const RecordedFile read = Read();
  EXPECT_TRUE(read.notes.empty());
  const Rank& rank = read.ranks.at(0);
  ASSERT_EQ(rank.stacks.size(), 2U);
  EXPECT_EQ(rank.stacks[1].caller, 0U);
  EXPECT_EQ(rank.string(rank.stacks[0].module), "Net");
  EXPECT_EQ(rank.stacks[1].module, kNone);
  const CodePlace& place = rank.places.at(rank.stacks[1].place);
  EXPECT_EQ(rank.string(place.function), "load");
  EXPECT_EQ(rank.string(place.file), "data.py");
  EXPECT_EQ(place.line, 41);
  EXPECT_EQ(place.first_line, 40);
  const StackSamples& samples = rank.stack_samples;
  EXPECT_EQ(samples.time, (std::vector<TimeNs>{10, 15, 20}));
  EXPECT_EQ(samples.stack, (std::vector<std::uint32_t>{0, kNone, 1}));
  EXPECT_EQ(samples.kind[1], StackKind::kCall);
  EXPECT_EQ(samples.correlation[1], 5U);
  EXPECT_EQ(rank.threads.at(samples.thread[1]).tid, 7);
  EXPECT_EQ(samples.repeats, (std::vector<std::uint32_t>{0, 0, 3}));
  EXPECT_EQ(samples.span[2], 30);
}

// What bears the name of a kernel launches it.
TEST_F(RunDbSamplesTest, FunctionsOfMachineCode) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6, .name = "_Z4gemmPf"});
  const auto function = [](const char* symbol) {
    return RunDbFixture::Frame{.function = symbol, .file = "/w/train", .line = 0};
  };
  file.AddStackSample(
      {.time_ns = 10,
       .frames = {function("main"), function("_ZN5model7forwardEi"),
                  function("_ZN5model7forwardEf"), function("_Z4gemmPf"),
                  function("_Z10cudaMallocIfE9cudaErrorPPT_m"), function("train+0x10")},
       .kind = StackKind::kLaunch});
  file.AddStackSample({.time_ns = 11, .frames = {{.function = "f", .line = 0}}});
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  std::vector<std::string> names, libraries;
  for (const CodePlace& place : rank.places) {
    if (!place.is_native) continue;
    names.emplace_back(rank.string(place.function));
    if (place.is_library) libraries.push_back(names.back());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"main", "model::forward", "gemm", "cudaMalloc<float>",
                                             "train+0x10"}));
  EXPECT_EQ(libraries, (std::vector<std::string>{"gemm", "cudaMalloc<float>"}));
  ASSERT_EQ(rank.shapes.size(), 1U);
  EXPECT_EQ(rank.string(rank.shapes[0].name), "gemm(float*)");
  ASSERT_EQ(rank.stacks.size(), 7U);
  EXPECT_EQ(rank.stacks[1].place, rank.stacks[2].place);  // overloads are one function
}

TEST_F(RunDbSamplesTest, StacksThatLeadNowhere) {
  RunDbFixture file(path_);
  file.AddStackSample({.time_ns = 10, .frames = {{.line = 1}, {.line = 2}}});
  file.AddStackSample({.time_ns = 11});
  file.Execute("UPDATE stack SET parent = 2 WHERE id = 1");  // in a circle
  file.Execute("UPDATE stack_sample SET stack = 77 WHERE time = 11");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.notes.size(), 2U);
  const Rank& rank = read.ranks.at(0);
  ASSERT_EQ(rank.stacks.size(), 2U);
  EXPECT_EQ(rank.stacks[0].caller, kNone);
  EXPECT_EQ(rank.stack_samples.size(), 1U);
}

TEST_F(RunDbSamplesTest, RangesOfAnImportedTrace) {
  RunDbFixture file(path_);
  file.AddProfilerRange({.start_ns = 30, .sequence = 7, .forward_thread = 1});
  file.AddProfilerRange(
      {.start_ns = 10, .dur_ns = 90, .name = "a.py(1): f", .kind = ProfiledKind::kPythonFunction});
  // Of no thread, of no known kind, and without a name.
  for (const char* row : {"999, 1, name", "thread, 3, name", "thread, 1, 999"})
    file.Execute(std::string("INSERT INTO profiler_range SELECT 1, 2, ") + row +
                 ", NULL, NULL, NULL FROM profiler_range LIMIT 1");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.notes.size(), 3U);
  const Rank& rank = read.ranks.at(0);
  const ProfiledRanges& ranges = rank.profiled;
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges.start, (TimeColumn{10, 30}));
  EXPECT_EQ(ranges.end[0], 100);
  EXPECT_EQ(ranges.kind[0], ProfiledKind::kPythonFunction);
  EXPECT_EQ(rank.string(ranges.name[1]), "aten::mm");
  EXPECT_EQ(rank.string(ranges.input_shapes[1]), "[[8, 16], [16, 4]]");
  EXPECT_EQ(ranges.sequence[0], -1);
  EXPECT_EQ(ranges.sequence[1], 7);
  EXPECT_EQ(ranges.forward_thread[1], 1);
}

TEST_F(RunDbSamplesTest, TheFirstFilesOfVersion6HaveNoSuchRanges) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE profiler_range");
  file.Close();
  EXPECT_EQ(Read().ranks.at(0).profiled.size(), 0U);
}

TEST_F(RunDbSamplesTest, Counters) {
  RunDbFixture file(path_);
  const auto full = file.AddCounterSet("pm_sampling", 1000, {"sm_active", "later", "dram_read"});
  const auto gpm = file.AddCounterSet("gpm", 100'000, {"tensor_active"});
  file.AddCounterSamples({.start_ns = 5000,
                          .device = 1,
                          .set = full,
                          .period_ns = 1000,
                          .values = {{900, 7, 100}, {-1, 7, 300}},
                          .gpu_time = 77'000,
                          .lead_ns = 400,
                          .lag_ns = 0});
  file.AddCounterSamples(
      {.start_ns = 200'000, .device = 1, .set = gpm, .period_ns = 100'000, .values = {{450}}});
  file.Close();
  const RecordedFile read = Read();
  const CounterSamples& samples = read.ranks[0].devices[0].counters;
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples.period_ns, 1000);
  EXPECT_EQ(samples.end[0] - samples.start[0], 1000);
  EXPECT_EQ(samples.start[1], samples.end[0]);
  ASSERT_EQ(samples.columns.size(), 3U) << "one is of a later version";
  const auto values = [&](CounterId id) {
    const CounterColumn* column = samples.Find(id);
    return column == nullptr
               ? std::vector<int>()
               : std::vector<int>{column->value[0], column->value[1], column->value[2]};
  };
  EXPECT_EQ(values(CounterId::kSmActive), (std::vector<int>{900, -1, -1}));
  EXPECT_EQ(values(CounterId::kDramRead), (std::vector<int>{100, 300, -1}));
  EXPECT_EQ(values(CounterId::kTensorActive), (std::vector<int>{-1, -1, 450}));
  EXPECT_EQ(samples.clock.edges, 0U);
  EXPECT_TRUE(read.notes.empty()) << read.notes.front();
}

TEST_F(RunDbSamplesTest, DamagedCounters) {
  RunDbFixture file(path_);
  file.AddDevice({.device = 0});
  const auto set = file.AddCounterSet("pm_sampling", 1000, {"sm_active"});
  file.AddCounterSamples({.start_ns = 0, .set = set, .period_ns = 1000, .values = {{1}, {2}, {3}}});
  file.Execute("UPDATE counter_sample SET data = substr(data, 1, 7)");
  // No such set; no such device; of another process; more samples than there are; no bytes at all.
  file.Execute("INSERT INTO counter_sample VALUES (0, 1, 1, 0, 9, 1, NULL, NULL, NULL, X'000000')");
  file.Execute("INSERT INTO counter_sample VALUES (0, 1, 1, 5, 1, 1, NULL, NULL, NULL, X'000000')");
  file.Execute("INSERT INTO counter_sample VALUES (0, 1, 3, 0, 1, 1, NULL, NULL, NULL, X'000000')");
  file.Execute(
      "INSERT INTO counter_sample VALUES (9000, 1, 1, 0, 1, 1 << 60, 1 << 61, 1 << 59, -(1 << 59), "
      "X'000002')");
  file.Execute(
      "INSERT INTO counter_sample VALUES (20, 1, 1, 0, 1, 7, -5, 0, 0, X'FFFFFFFFFFFFFF')");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.ranks[0].devices[0].counters.size(), 3U);
  EXPECT_EQ(read.notes.size(), 3U);
}

// What it tells of the clocks is of no sample.
TEST_F(RunDbSamplesTest, ARunOfWhichNoSampleCanBeRead) {
  RunDbFixture file(path_);
  file.AddDevice({.device = 0});
  const auto set = file.AddCounterSet("pm_sampling", 1000, {"sm_active"});
  file.AddCounterSamples({.start_ns = 5000,
                          .set = set,
                          .period_ns = 1000,
                          .values = {{1}, {2}, {3}},
                          .gpu_time = 77'000,
                          .lead_ns = 400,
                          .lag_ns = 0});
  file.Execute(
      "INSERT INTO counter_sample SELECT start, dur, proc, device, counter_set, samples, gpu_time, "
      "lead, -(1 << 40), X'FF' FROM counter_sample");
  file.Close();
  const RecordedFile read = Read();
  const CounterSamples& samples = read.ranks[0].devices[0].counters;
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_NEAR(static_cast<double>(samples.start[0]), 5000, 1000);
  EXPECT_EQ(read.notes.size(), 1U);
}

}  // namespace
}  // namespace traceinject
