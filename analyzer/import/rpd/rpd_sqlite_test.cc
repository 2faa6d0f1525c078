// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/rpd/rpd_sqlite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/import/open/open_recording.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// The columns of schema version 3 that are read.
constexpr char kVersion3[] = R"sql(
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag varchar(4096), value varchar(4096));
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar(4096));
CREATE TABLE rocpd_ustring (id integer PRIMARY KEY, string varchar(4096));
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer,
  end integer, apiName_id bigint, category_id bigint, domain_id bigint, args_id bigint);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer,
  start integer, end integer, description_id bigint, opType_id bigint);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id bigint, op_id bigint);
CREATE TABLE rocpd_kernelapi (api_ptr_id bigint PRIMARY KEY, stream varchar(18), gridX integer,
  gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer,
  groupSegmentSize integer, privateSegmentSize integer, kernelName_id bigint);
CREATE TABLE rocpd_copyapi (api_ptr_id bigint PRIMARY KEY, stream varchar(18), size integer,
  width integer, height integer, kind integer, dst varchar(18), src varchar(18),
  dstDevice integer, srcDevice integer, sync bool, pinned bool);
INSERT INTO rocpd_string VALUES (1, '');
INSERT INTO rocpd_ustring VALUES (1, '');
)sql";

// The first moment of these files, on the tracer's clock.
constexpr std::int64_t kBoot_ns = 8'000'000'000'000'000;

class RpdTest : public testing::Test {
 protected:
  RpdTest() : database_(Open(path_)) { Execute(kVersion3); }

  static Database Open(const std::string& path) {
    auto database = Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path);
    EXPECT_TRUE(database.ok()) << database.error();
    return std::move(database).value();
  }
  void Execute(const std::string& sql) {
    const Status done = database_.Execute(sql);
    ASSERT_TRUE(done.ok()) << done.error();
  }
  std::int64_t Text(const std::string& text, const char* table = "rocpd_string") {
    Execute(fmt::format("INSERT INTO {} (string) VALUES ('{}')", table, text));
    return sqlite3_last_insert_rowid(database_.handle());
  }
  void AddApi(std::int64_t id, std::int64_t start, std::int64_t end, const std::string& name,
              const std::string& args = "", std::int64_t pid = 70, std::int64_t tid = 71) {
    const std::int64_t name_id = Text(name), args_id = Text(args, "rocpd_ustring");
    Execute(fmt::format("INSERT INTO rocpd_api VALUES ({}, {}, {}, {}, {}, {}, 1, 1, {})", id, pid,
                        tid, kBoot_ns + start, kBoot_ns + end, name_id, args_id));
  }
  // `call` 0: none leads to it.
  void AddOp(std::int64_t call, std::int64_t start, std::int64_t end, const std::string& type,
             const std::string& description, std::int64_t gpu = 2, std::int64_t queue = 0,
             std::int64_t sequence = 0) {
    const std::int64_t type_id = Text(type);
    const std::int64_t description_id = description.empty() ? 1 : Text(description);
    Execute(fmt::format(
        "INSERT INTO rocpd_op (gpuId, queueId, sequenceId, start, end, "
        "description_id, opType_id) VALUES ({}, {}, {}, {}, {}, {}, {})",
        gpu, queue, sequence, kBoot_ns + start, kBoot_ns + end, description_id, type_id));
    if (call != 0)
      Execute(fmt::format("INSERT INTO rocpd_api_ops (api_id, op_id) VALUES ({}, {})", call,
                          sqlite3_last_insert_rowid(database_.handle())));
  }
  traceinject::Run Load() {
    auto run = LoadRun({path_}, {});
    EXPECT_TRUE(run.ok()) << run.error();
    return run.ok() ? std::move(run).value() : traceinject::Run();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "trace.rpd";
  Database database_;
};

TEST_F(RpdTest, JoinsKernelsToTheirCalls) {
  AddApi(5, 0, 50, "hipLaunchKernel");
  AddApi(6, 100, 150, "hipExtModuleLaunchKernel");
  const std::int64_t name = Text("gemm");
  Execute(
      fmt::format("INSERT INTO rocpd_kernelapi VALUES (5, '0x0', 4, 3, 2, 64, 2, 1, 1024, 0, {0}), "
                  "(6, '0x0', 513, 1, 1, 256, 1, 1, 0, 0, {0})",
                  name));
  AddOp(5, 1'000, 1'500, "KernelExecution", "_Z4copyPf");
  AddOp(6, 1'600, 1'800, "KernelExecution", "");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1U);
  EXPECT_EQ(run.base_ns, kBoot_ns);
  EXPECT_TRUE(run.notes.empty()) << run.notes.front();
  const Rank& rank = run.ranks[0];
  EXPECT_EQ(rank.imported_from, "a rocmProfileData trace");
  EXPECT_EQ(rank.process.pid, 70);
  ASSERT_EQ(rank.devices.size(), 1U);
  EXPECT_EQ(rank.devices[0].ordinal, 2);
  const GpuOps& ops = rank.devices[0].ops;
  EXPECT_EQ(ops.start, (TimeColumn{1'000, 1'600}));
  EXPECT_EQ(ops.end, (TimeColumn{1'500, 1'800}));
  EXPECT_EQ(ops.launch, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(rank.api_names[0].api_class, ApiClass::kLaunch);
  EXPECT_EQ(rank.threads[rank.api.thread[0]].tid, 71);
  const KernelShape& first = rank.shapes[ops.detail[0]];
  EXPECT_EQ(rank.string(first.name), "copy(float*)");
  EXPECT_EQ(first.grid[2], 2);
  EXPECT_EQ(first.block[1], 2);
  EXPECT_EQ(first.dynamic_shared_bytes, 1'024);
  // Without a name of its own that of its launch, whose grid counts threads.
  const KernelShape& second = rank.shapes[ops.detail[1]];
  EXPECT_EQ(rank.string(second.name), "gemm");
  EXPECT_EQ(second.grid[0], 3);
}

TEST_F(RpdTest, CopiesAreWhatCallAndTypeTell) {
  AddApi(1, 0, 10, "hipMemcpyAsync");
  AddApi(2, 20, 30, "hipMemcpyWithStream");
  AddApi(3, 40, 50, "hipMemcpyPeerAsync");
  AddApi(4, 60, 70, "cudaMemcpyAsync_v3020");
  AddApi(5, 80, 90, "hipMemcpy2DAsync");
  Execute(
      "INSERT INTO rocpd_copyapi VALUES (1, '0x0', 4096, '', '', 1, '', '', 0, 0, 0, 0), "
      "(2, '0x0', '', '', '', 2, '', '', 0, 0, 0, 0), "
      "(3, '0x0', 64, '', '', 3, '', '', 3, 2, 0, 0), "
      "(4, '0x0', 32, '', '', 2, '', '', 0, 0, 1, 0), "
      "(5, '0x0', '', 100, 7, 3, '', '', 0, 0, 0, 0)");
  AddOp(1, 1'000, 1'100, "CopyHostToDevice", "");
  AddOp(2, 1'200, 1'300, "MEMORY_COPY_DEVICE_TO_HOST", "");
  AddOp(3, 1'400, 1'500, "CopyDeviceToDevice", "");
  AddOp(4, 1'600, 1'700, "Memcpy", "");
  AddOp(5, 1'800, 1'900, "CopyDeviceToDevice", "");
  AddOp(0, 2'000, 2'100, "FillBuffer", "");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1U);
  const auto& transfers = run.ranks[0].transfers;
  const GpuOps& ops = run.ranks[0].devices[0].ops;
  ASSERT_EQ(ops.size(), 6U);
  const auto of = [&](std::size_t row) { return transfers[ops.detail[row]]; };
  EXPECT_EQ(of(0).kind, 1);
  EXPECT_EQ(of(0).bytes, 4'096);
  EXPECT_TRUE(of(0).async);
  EXPECT_EQ(of(1).kind, 2);
  EXPECT_FALSE(of(1).async);
  EXPECT_EQ(of(2).kind, 10);
  EXPECT_EQ(of(2).src_device, 2);
  EXPECT_EQ(of(2).dst_device, 3);
  EXPECT_EQ(of(3).kind, 2) << "as its call names it";
  EXPECT_EQ(run.ranks[0].api_names[run.ranks[0].api.name[3]].name, "cudaMemcpyAsync");
  EXPECT_EQ(of(4).bytes, 700) << "width times height";
  EXPECT_EQ(ops.kind[5], OpKind::kMemset);
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_NE(run.notes[0].find("1 copy of which no size is told"), std::string::npos)
      << run.notes[0];
}

TEST_F(RpdTest, MarkersAreRanges) {
  const std::int64_t domain = Text("NCCL");
  AddApi(1, 0, 500, "UserMarker", "step 1");
  AddApi(2, 100, 100, "UserMarker", "here");
  AddApi(3, 200, 300, "run_to_completion", "");
  AddApi(4, 200, 300, "OpTable::writeRows", "count=7");
  Execute(fmt::format("UPDATE rocpd_api SET category_id = {} WHERE id = 2", domain));
  AddOp(0, 1'000, 1'100, "Task", "k");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1U);
  const Rank& rank = run.ranks[0];
  ASSERT_EQ(rank.nvtx.size(), 3U) << "the tracer's own work is none";
  EXPECT_EQ(rank.string(rank.nvtx.text[0]), "step 1");
  EXPECT_EQ(rank.nvtx.kind[0], NvtxKind::kPushPop);
  EXPECT_EQ(rank.nvtx.kind[1], NvtxKind::kMark);
  EXPECT_EQ(rank.nvtx_domains[rank.nvtx.domain[1]], "NCCL");
  EXPECT_EQ(rank.string(rank.nvtx.text[2]), "run_to_completion");
  EXPECT_EQ(rank.api.size(), 0U);
}

// Until version 3 arguments were among the other texts, and an operation had a signal.
TEST_F(RpdTest, ReadsTheVersionBefore) {
  Execute("DROP TABLE rocpd_ustring; DROP TABLE rocpd_api; DROP TABLE rocpd_metadata");
  Execute(
      "CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, "
      "end integer, apiName_id integer, args_id integer)");
  const std::int64_t marker = Text("UserMarker"), text = Text("step 1");
  Execute(fmt::format("INSERT INTO rocpd_api VALUES (1, 70, 71, {}, {}, {}, {})", kBoot_ns,
                      kBoot_ns + 10, marker, text));
  AddOp(0, 1'000, 1'100, "KernelExecution", "k");
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 1U);
  EXPECT_EQ(run.ranks[0].string(run.ranks[0].nvtx.text[0]), "step 1");
}

TEST_F(RpdTest, StreamsAreTheQueues) {
  AddApi(1, 0, 10, "hipLaunchKernel");
  AddOp(1, 1'000, 1'100, "KernelExecution", "k", 2, 3);
  AddOp(1, 1'200, 1'300, "KernelExecution", "k", 2, std::int64_t{0x7f0000001000});
  const auto run = Load();
  const Rank& rank = run.ranks.at(0);
  ASSERT_EQ(rank.streams.size(), 2U);
  EXPECT_EQ(rank.streams[0].stream_id, 3U);
  EXPECT_EQ(rank.streams[1].stream_id, 1U) << "a handle is no number";
}

TEST_F(RpdTest, CuptiHasContextsAndStreams) {
  AddApi(1, 0, 10, "cudaLaunchKernel_v7000");
  AddOp(1, 1'000, 1'100, "ConcurrentKernel", "k", 0, 1, 7);
  const auto run = Load();
  const Rank& rank = run.ranks.at(0);
  EXPECT_EQ(rank.streams.at(0).context, 1U);
  EXPECT_EQ(rank.streams.at(0).stream_id, 7U);
  EXPECT_EQ(rank.api_names.at(0).name, "cudaLaunchKernel");
}

TEST_F(RpdTest, TellsProcessesAndMachinesApart) {
  Execute(
      "INSERT INTO rocpd_metadata (tag, value) VALUES ('gpu_stride', '1000'), ('pid_stride', "
      "'10000000')");
  AddApi(1, 0, 10, "hipLaunchKernel", "", 70, 70);
  AddApi(2, 0, 10, "hipLaunchKernel", "", 10'000'070, 10'000'071);
  AddOp(1, 1'000, 1'100, "KernelExecution", "k", 0);
  AddOp(2, 1'000, 1'200, "KernelExecution", "k", 1'003, 1'005);
  AddOp(0, 1'300, 1'400, "KernelExecution", "of the second", 1'003, 1'005);
  AddOp(0, 1'300, 1'400, "KernelExecution", "whose?", 1'007, 1'005);
  const auto run = Load();
  ASSERT_EQ(run.ranks.size(), 2U);
  EXPECT_EQ(run.ranks[0].process.host, "node 0");
  EXPECT_EQ(run.ranks[0].devices.at(0).ops.size(), 1U);
  const Rank& second = run.ranks[1];
  EXPECT_EQ(second.process.host, "node 1");
  EXPECT_EQ(second.process.pid, 70);
  EXPECT_EQ(second.threads.at(0).tid, 71);
  EXPECT_EQ(second.devices.at(0).ordinal, 3);
  EXPECT_EQ(second.streams.at(0).stream_id, 5U);
  EXPECT_EQ(second.devices[0].ops.size(), 2U);
  ASSERT_EQ(run.notes.size(), 1U);
  EXPECT_NE(run.notes[0].find("1 row of the table 'rocpd_op' left out: no such process"),
            std::string::npos)
      << run.notes[0];
}

TEST_F(RpdTest, RowsThatCannotBeRightAreLeftOutAndCounted) {
  AddApi(1, 0, 10, "hipLaunchKernel");
  AddOp(1, 1'000, 1'100, "KernelExecution", "k");
  AddOp(1, 1'200, 1'150, "KernelExecution", "k");
  AddOp(1, 1'300, 1'400, "Barrier", "k");
  AddOp(1, 1'300, 1'400, "KernelExecution", "k", -3);
  AddOp(1, 1'500, 1'600, "KernelExecution", "");
  Execute("UPDATE rocpd_op SET end = 'late' WHERE id = 1");
  Execute(
      "INSERT INTO rocpd_op (gpuId, queueId, sequenceId, start, end, description_id, opType_id) "
      "VALUES (0, 0, 0, -9223372036854775808, 9223372036854775807, 1, 1)");
  Execute("INSERT INTO rocpd_api VALUES (9, 70, 71, 0, 10, 4711, 1, 1, 1)");
  const auto run = Load();
  std::string notes;
  for (const std::string& note : run.notes) notes += note + "\n";
  for (const char* expected :
       {"'rocpd_op' left out: no start, or no end", "'rocpd_op' repaired: a negative duration",
        "'rocpd_op' left out: unknown kind", "'rocpd_op' left out: invalid device",
        "'rocpd_op' kept without a name", "'rocpd_op' left out: impossible start or duration",
        "'rocpd_api' left out: no row for the name"})
    EXPECT_NE(notes.find(expected), std::string::npos) << expected << "\nin\n" << notes;
}

TEST_F(RpdTest, SaysWhatIsMissing) {
  auto run = LoadRun({path_}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().find("contains no GPU operation"), std::string::npos) << run.error();
  Execute("ALTER TABLE rocpd_op DROP COLUMN opType_id");
  run = LoadRun({path_}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().find("the table rocpd_op lacks the column 'opType_id' that "
                             "rocmProfileData writes"),
            std::string::npos)
      << run.error();
  const auto opened = OpenRecording(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("this is a rocmProfileData trace."), std::string::npos);
}

// Whatever bytes the file holds, it is read or there is a sentence.
TEST_F(RpdTest, DamagedFilesAreSaidToBe) {
  for (std::int64_t i = 1; i <= 50; ++i) {
    AddApi(i, i * 100, i * 100 + 10, "hipLaunchKernel");
    AddOp(i, i * 100 + 50, i * 100 + 90, "KernelExecution", "k");
  }
  std::ifstream in(path_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::mt19937 random(7);
  for (int attempt = 0; attempt < 200; ++attempt) {
    std::string damaged = whole;
    for (int i = 0; i < 20; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string path = folder_ / "damaged.rpd";
    std::ofstream(path, std::ios::binary)
        .write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
    ReadProgress progress;
    const auto read = ReadRecording(path, progress);
    EXPECT_TRUE(read.ok() || !read.error().empty());
  }
}

}  // namespace
}  // namespace traceinject
