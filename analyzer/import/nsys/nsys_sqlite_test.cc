// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_sqlite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/testing/nsys_fixture.h"
#include "analyzer/model/join_rate.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class NsysSqliteTest : public testing::Test {
 protected:
  traceinject::Run Load() {
    auto run = LoadRun({path_}, {});
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }
  std::string Refusal() {
    auto run = LoadRun({path_}, {});
    return run.ok() ? "it was read" : run.error();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "report1.sqlite";
};

TEST_F(NsysSqliteTest, JoinsKernelsToTheirCalls) {
  NsysFixture file(path_);
  file.AddApi(900, 950, "cudaLaunchKernel_v7000", 5);
  file.AddApi(2'000, 2'100, "cuLaunchKernelEx", 6);
  file.AddKernel(1'000, 1'500, "_Z4copyPf", 5);
  file.AddKernel(3'000, 3'800, "_Z4copyPf", 6);
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  EXPECT_EQ(run.base_ns, 1'700'000'000'000'000'000);
  const Rank& rank = run.ranks[0];
  EXPECT_EQ(rank.imported_from, "an Nsight Systems export");
  EXPECT_EQ(rank.process.pid, 100);
  ASSERT_EQ(rank.devices.size(), 1u);
  const GpuOps& ops = rank.devices[0].ops;
  EXPECT_EQ(ops.start, (TimeColumn{1'000, 3'000}));
  EXPECT_EQ(ops.end, (TimeColumn{1'500, 3'800}));
  EXPECT_EQ(ops.launch, (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(rank.shapes.size(), 1u);
  EXPECT_EQ(rank.string(rank.shapes[0].name), "copy(float*)");
  EXPECT_EQ(rank.shapes[0].grid[2], 3);
  EXPECT_EQ(rank.shapes[0].dynamic_shared_bytes, 1024);
  ASSERT_EQ(rank.api_names.size(), 2u);
  EXPECT_EQ(rank.api_names[0].name, "cudaLaunchKernel");
  EXPECT_EQ(rank.api_names[0].domain, ApiDomain::kRuntime);
  EXPECT_EQ(rank.api_names[1].name, "cuLaunchKernelEx");
  EXPECT_EQ(rank.api_names[1].domain, ApiDomain::kDriver);
  EXPECT_TRUE(run.notes.empty()) << run.notes.front();
}

TEST_F(NsysSqliteTest, TellsProcessesApart) {
  NsysFixture file(path_);
  for (const std::int64_t pid : {100, 200}) {
    file.AddApi(900, 950, "cudaLaunchKernel_v7000", 5, pid, pid + 1);
    file.AddKernel(1'000, 1'000 + pid, "kernel", 5, pid);
  }
  file.AddRange(0, 10, "of a launcher", 300, 300);
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 2u);
  for (const Rank& rank : run.ranks) {
    ASSERT_EQ(rank.threads.size(), 1u);
    EXPECT_EQ(rank.threads[0].tid, rank.process.pid + 1);
    EXPECT_EQ(rank.devices[0].ops.end[0], 1'000 + rank.process.pid);
    EXPECT_EQ(rank.devices[0].ops.launch[0], 0u);
  }
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("1 process without GPU operations"), std::string::npos);
}

TEST_F(NsysSqliteTest, ReadsCopiesAsTheirCallMadeThem) {
  NsysFixture file(path_);
  file.Execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes "
      "INTEGER, "
      "copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId "
      "INTEGER)");
  file.Execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value "
      "INTEGER, "
      "bytes INTEGER)");
  file.AddApi(900, 950, "cudaMemcpyAsync_v3020", 5);
  file.AddApi(1'900, 1'950, "cudaMemcpy_v3020", 6);
  const std::int64_t pid = NsysFixture::GlobalId(100);
  for (const char* values : {"(1000, 1500, 0, 1, 7, 5, {}, 4096, 1, 1, 2, 0, 0)",
                             "(2000, 2500, 0, 1, 7, 6, {}, 64, 10, 2, 2, 0, 1)",
                             "(2600, 2700, 0, 1, 7, 0, {}, 64, 11, 4, 9, NULL, NULL)"})
    file.Execute(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES {}",
                             fmt::format(fmt::runtime(values), pid)));
  file.Execute(fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3000, 3100, 0, 1, 7, 0, {}, 0, 512)", pid));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const auto& transfers = run.ranks[0].transfers;
  ASSERT_EQ(transfers.size(), 4u);
  EXPECT_EQ(transfers[0].kind, 1);
  EXPECT_EQ(transfers[0].src_kind, 2);  // pinned
  EXPECT_EQ(transfers[0].dst_kind, 3);  // device
  EXPECT_TRUE(transfers[0].async);
  EXPECT_EQ(transfers[0].src_device, -1);
  EXPECT_FALSE(transfers[1].async);
  EXPECT_EQ(transfers[1].dst_device, 1);
  EXPECT_EQ(transfers[2].kind, 1);      // what unified memory does by itself is a copy, too
  EXPECT_EQ(transfers[2].dst_kind, 0);  // unknown
  EXPECT_EQ(run.ranks[0].devices[0].ops.kind[3], OpKind::kMemset);
  EXPECT_EQ(transfers[3].bytes, 512);
}

TEST_F(NsysSqliteTest, ReadsRangesMarksAndDomains) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  const std::int64_t tid = NsysFixture::GlobalId(100, 100);
  file.AddRange(0, 2'000, "step 1");
  file.Execute(fmt::format(
      "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, category) VALUES "
      "(10, 20, 60, 'open', {0}, 3, 4), (30, NULL, 34, 'mark', {0}, 0, 0), (40, NULL, 59, NULL, "
      "{0}, 0, NULL), "
      "(0, NULL, 75, 'NCCL', {0}, 3, NULL), (0, NULL, 39, 'a thread', {0}, 0, NULL)",
      tid));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const Rank& rank = run.ranks[0];
  const NvtxRanges& nvtx = rank.nvtx;
  ASSERT_EQ(nvtx.size(), 4u);
  EXPECT_EQ(rank.string(nvtx.text[0]), "step 1");
  EXPECT_EQ(rank.nvtx_domains[nvtx.domain[0]], "");
  EXPECT_EQ(nvtx.kind[1], NvtxKind::kStartEnd);
  EXPECT_EQ(rank.nvtx_domains[nvtx.domain[1]], "NCCL");
  EXPECT_EQ(nvtx.category[1], 4u);
  EXPECT_EQ(nvtx.kind[2], NvtxKind::kMark);
  EXPECT_EQ(nvtx.end[2], 30);
  EXPECT_EQ(nvtx.end[3], kOpen);
  EXPECT_EQ(nvtx.text[3], kNone);
}

TEST_F(NsysSqliteTest, PyTorchsRangesAreWaitsAndSteps) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.AddRange(0, 900, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__, op_id = 7");
  file.AddRange(1'600, 1'700, "Optimizer.step#SGD.step");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  EXPECT_EQ(run.ranks[0].data_waits.end, TimeColumn{900});
  EXPECT_EQ(run.ranks[0].loaders.size(), 1u);
  EXPECT_EQ(run.ranks[0].step_marks.time, std::vector<TimeNs>{1'700});
}

TEST_F(NsysSqliteTest, EventsAreRecordedAndWaitedForAtTheirCalls) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.AddApi(1'600, 1'610, "cudaEventRecord_v3020", 20);
  file.AddApi(1'700, 1'900, "cudaEventSynchronize_v3020", 21, 100, 101);
  file.AddApi(2'000, 2'100, "cudaStreamSynchronize_v3020", 22);
  const std::int64_t pid = NsysFixture::GlobalId(100);
  file.Execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId "
      "INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER)");
  file.Execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId "
      "INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType "
      "INTEGER, eventId INTEGER)");
  file.Execute(
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 20, {}, 900)", pid));
  file.Execute(fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
      "(1710, 1890, 0, 1, 4294967295, 21, {0}, 1, 900), (2000, 2100, 0, 1, 7, 22, {0}, 3, 0), "
      "(2000, 2100, 0, 1, 7, 77, {0}, 3, 0), (2000, 2100, 0, 1, 7, 77, {0}, 4, 0)",
      pid));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const Syncs& syncs = run.ranks[0].syncs;
  ASSERT_EQ(syncs.size(), 3u);
  EXPECT_EQ(syncs.start, (TimeColumn{1'600, 1'700, 2'000}));
  EXPECT_EQ(syncs.kind, (std::vector<SyncKind>{SyncKind::kEventRecord, SyncKind::kHostWaitsEvent,
                                               SyncKind::kHostWaitsStream}));
  EXPECT_EQ(syncs.event[0], syncs.event[1]);
  EXPECT_NE(syncs.event[0], kNone);
  EXPECT_EQ(syncs.stream[0], syncs.stream[2]);
  EXPECT_EQ(syncs.stream[1], kNone);
  EXPECT_NE(syncs.thread[0], syncs.thread[1]);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("1 row of the table 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION' left out: "
                              "no row for the call"),
            std::string::npos);
}

TEST_F(NsysSqliteTest, ReadsAllocationsOfMemory) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.Execute(
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId "
      "INTEGER, "
      "address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, correlationId "
      "INTEGER)");
  file.Execute(fmt::format(
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (100, {0}, 0, 4096, 512, 2, 0, 3), "
      "(200, {0}, 0, 4096, 512, 2, 1, 4)",
      NsysFixture::GlobalId(100)));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const MemoryOperations& memory = run.ranks[0].memory;
  EXPECT_EQ(memory.time, (std::vector<TimeNs>{100, 200}));
  EXPECT_EQ(memory.release, (std::vector<bool>{false, true}));
  EXPECT_EQ(memory.memory_kind[0], 3);  // device
  EXPECT_EQ(memory.bytes[0], 512);
  EXPECT_EQ(memory.correlation[1], 4u);
}

TEST_F(NsysSqliteTest, GraphsTracedAsAWholeAreOneOperationEach) {
  NsysFixture file(path_);
  file.AddApi(900, 950, "cudaGraphLaunch_v10000", 5);
  file.Execute(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, "
      "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId "
      "INTEGER, "
      "graphExecId INTEGER)");
  file.Execute(fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1000, 5000, 0, 1, 7, 5, {}, 17, 18)",
      NsysFixture::GlobalId(100)));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const Rank& rank = run.ranks[0];
  EXPECT_EQ(rank.devices[0].ops.end, TimeColumn{5'000});
  EXPECT_EQ(rank.devices[0].ops.launch, std::vector<std::uint32_t>{0});
  EXPECT_EQ(rank.string(rank.shapes[0].name), "CUDA graph 17");
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("--cuda-graph-trace=node"), std::string::npos);
}

TEST_F(NsysSqliteTest, DevicesAreThoseOfTheProcess) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.Execute(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, smCount INTEGER, clockRate "
      "INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA T4', 'a', 40, 1590000000, 7, 5), "
      "(3, 'NVIDIA H200', 'GPU-b', 132, 1980000000, 9, 0);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 100), (0, 0, 200);"
      "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);");
  file.AddApi(900, 950, "cudaLaunchKernel_v7000", 5);
  file.Execute(fmt::format("INSERT INTO ThreadNames VALUES ({}, 0, {})", file.AddString("python"),
                           NsysFixture::GlobalId(100, 100)));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const Device& device = run.ranks[0].devices[0];
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.uuid, "GPU-b");
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.sm_clock_khz, 1'980'000);
  EXPECT_EQ(run.ranks[0].threads[0].name, "python");
}

TEST_F(NsysSqliteTest, TheOnlyGpuIsThatOfAllProcesses) {
  NsysFixture file(path_);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.Execute(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smMajor INTEGER, smMinor INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (3, 'Tesla V100', 7, 0)");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  EXPECT_EQ(run.ranks[0].devices[0].name, "Tesla V100");
  EXPECT_EQ(run.ranks[0].devices[0].cc_major, 7);
  EXPECT_FALSE(run.ranks[0].devices[0].sm_count.has_value());
}

// Of a container, whose rows of devices lead to no GPU, and of one without such rows.
TEST_F(NsysSqliteTest, GpusAreNamedByWhateverTellsThem) {
  struct Case {
    const char* gpus;
    const char* devices;
    const char* name;
    const char* uuid;
  };
  const Case cases[] = {
      {"(4, 'NVIDIA A10', 'aa', 1, 0), (5, 'NVIDIA H100', 'bb', 1, 1)", "(17, 0, 100, 'GPU-bb')",
       "NVIDIA H100", "GPU-bb"},
      {"(4, 'NVIDIA A10', 'aa', 1, 1), (5, 'NVIDIA H100', 'bb', 1, 0)", "(NULL, 0, 9, NULL)",
       "NVIDIA H100", "GPU-bb"},
      {"(4, 'NVIDIA H100', 'aa', 1, NULL), (5, 'NVIDIA H100', 'bb', 1, NULL)", "(17, 0, 100, NULL)",
       "NVIDIA H100", ""},
      {"(4, 'NVIDIA A10', 'aa', 1, NULL), (5, 'NVIDIA H100', 'bb', 1, NULL)", "(17, 0, 100, NULL)",
       "", ""},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.gpus);
    std::filesystem::remove(path_);
    NsysFixture file(path_);
    file.AddKernel(1'000, 1'500, "kernel", 5);
    file.Execute(fmt::format(
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, totalMemory INTEGER, "
        "cuDevice INTEGER); INSERT INTO TARGET_INFO_GPU VALUES {};"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid "
        "TEXT); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES {};",
        one.gpus, one.devices));
    const auto run = Load();
    ASSERT_EQ(run.ranks.size(), 1u);
    EXPECT_EQ(run.ranks[0].devices[0].name, one.name);
    EXPECT_EQ(run.ranks[0].devices[0].uuid, one.uuid);
  }
}

// A capture range begins while work is queued: its launches came before.
TEST_F(NsysSqliteTest, WhatWasLaunchedBeforeTheCaptureIsNotMissed) {
  NsysFixture file(path_);
  for (int i = 0; i < 100; ++i) {
    if (i >= 40) file.AddApi(i * 1'000, i * 1'000 + 100, "cudaLaunchKernel_v7000", i + 1);
    file.AddKernel(50'000 + i * 1'000, 50'000 + i * 1'000 + 900, "kernel", i + 1);
  }
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  const Rank& rank = run.ranks[0];
  EXPECT_EQ(rank.first_kept_call, 41u);
  EXPECT_EQ(rank.kept_from, 40'000);
  const JoinRate join = CountJoins(rank);
  EXPECT_EQ(join.beyond, 40);
  EXPECT_EQ(join.operations, 60);
  EXPECT_EQ(join.joined, 60);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_NE(run.notes[0].find("40 GPU operations were launched before"), std::string::npos);
}

// Of the year 2019: no globalPid, one name.
TEST_F(NsysSqliteTest, OldVersionsHaveFewerColumns) {
  NsysFixture file(path_);
  file.Execute(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE TARGET_INFO_SESSION_START_TIME;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT "
      "NOT "
      "NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, shortName "
      "INT "
      "NOT NULL)");
  file.AddApi(900, 950, "cudaLaunchKernel_v7000", 5);
  const std::int64_t name = file.AddString("kernel");
  file.Execute(fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 1, 7, 5, {})", name));
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1u);
  EXPECT_EQ(run.ranks[0].process.pid, 100);
  EXPECT_EQ(run.ranks[0].devices[0].ops.launch, std::vector<std::uint32_t>{0});
  EXPECT_EQ(run.ranks[0].string(run.ranks[0].shapes[0].name), "kernel");
}

TEST_F(NsysSqliteTest, WhatIsNoExportIsRefusedWithAReason) {
  {
    NsysFixture file(path_);
    file.AddApi(900, 950, "cudaLaunchKernel_v7000", 5);
  }
  EXPECT_NE(Refusal().find("contains no GPU operation"), std::string::npos) << Refusal();
  const auto opened = OpenRecording(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("analyze import"), std::string::npos) << opened.error();
  {
    auto database = Database::Open(path_, SQLITE_OPEN_READWRITE, nullptr, path_);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database.value()
                    .Execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN streamId TO s")
                    .ok());
  }
  EXPECT_NE(Refusal().find("the table CUPTI_ACTIVITY_KIND_KERNEL lacks the column 'streamId'"),
            std::string::npos)
      << Refusal();
}

TEST_F(NsysSqliteTest, IsStoredAsItWasRecorded) {
  NsysFixture file(path_);
  // It cannot have run until after the next one of its stream.
  file.AddKernel(1'000, 900'000'000, "kernel", 5);
  for (int i = 0; i < 20; ++i) file.AddKernel(2'000 + i * 100, 2'050 + i * 100, "kernel", 6 + i);
  ReadProgress progress;
  const auto stored = ReadTrace(path_, progress);
  ASSERT_TRUE(stored.ok()) << stored.error();
  const auto& stored_ends = stored.value().ranks[0].devices[0].ops.end;
  EXPECT_EQ(*std::max_element(stored_ends.begin(), stored_ends.end()), 900'000'000);
  const auto run = Load();
  const auto& ends = run.ranks[0].devices[0].ops.end;
  EXPECT_LT(*std::max_element(ends.begin(), ends.end()), 900'000'000);
}

}  // namespace
}  // namespace traceinject
