// SPDX-License-Identifier: Apache-2.0
#include "injector/store/run_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "injector/testing/test_support.h"
#include "schemas/run_db_sql.h"
#include "schemas/views_sql.h"

// How often a file was asked for by its name, here and by SQLite.
namespace {
std::atomic<int> g_asked_by_name{0};
}  // namespace

extern "C" int stat(const char* path, struct stat* about) noexcept {
  ++g_asked_by_name;
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, about, 0));
}

namespace traceinject {
namespace {

class RunFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    file_ = RunFile::Create(folder_ / "run.db", TestHeader(), &why);
    ASSERT_TRUE(file_) << why;
  }
  // One that is not finished keeps its descriptors.
  void TearDown() override { file_->Finish(0); }

  // The result of the query after the batch was written.
  std::string Stored(const Batch& batch, const std::string& sql) {
    if (!file_->Write(batch)) return file_->last_error();
    return Query(file_->path(), sql);
  }

  TemporaryFolder folder_;
  std::unique_ptr<RunFile> file_;
};

TEST_F(RunFileTest, HasTheSchemaOfRunDbSql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "expected.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, k_run_db_sql, nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, k_views_sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  const std::string schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
  EXPECT_EQ(Query(file_->path(), schema), Query(folder_ / "expected.db", schema));
  EXPECT_EQ(Query(file_->path(), "PRAGMA application_id"), std::to_string(0x54524A31));
  EXPECT_EQ(Query(file_->path(), "PRAGMA user_version"),
            Query(folder_ / "expected.db", "PRAGMA user_version"));
  EXPECT_NE(Query(file_->path(), "PRAGMA user_version"), "0");
}

TEST_F(RunFileTest, BeginsWithMetaAndProcess) {
  EXPECT_EQ(Query(file_->path(), "SELECT key, value, typeof(value) FROM meta ORDER BY key"),
            "base_ns|1700000000000000000|integer\nrun_id|job-5|text\ntool_version|1.2.3|text");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM process"),
            "1|77|NULL|node7|NULL|NULL|NULL|NULL|job-5|NULL|10|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
            "NULL|NULL|NULL|NULL|NULL|NULL|NULL");
}

// On network file systems each is a question to a server that all ranks ask.
TEST_F(RunFileTest, AFlushAsksForTheNameOnce) {
  Batch batch;
  batch.strings.push_back({1, "a"});
  ASSERT_TRUE(file_->Write(batch));
  for (std::uint32_t id = 2; id < 10; ++id) {
    g_asked_by_name = 0;
    Batch next;
    next.strings.push_back({id, std::to_string(id)});
    ASSERT_TRUE(file_->Write(next)) << file_->last_error();
    EXPECT_GT(file_->bytes(), 0);
    EXPECT_LE(g_asked_by_name, 1);
  }
}

TEST_F(RunFileTest, ItsSizeIsThatOfItsFiles) {
  Batch batch;
  batch.strings.push_back({1, std::string(1 << 20, 'a')});
  ASSERT_TRUE(file_->Write(batch));
  const auto size = [&](const char* ending) {
    return static_cast<std::int64_t>(std::filesystem::file_size(file_->path() + ending));
  };
  EXPECT_EQ(file_->bytes(), size("") + size("-wal"));
}

TEST_F(RunFileTest, StoresDictionaries) {
  Batch batch;
  batch.strings = {{1, "gemm"}, {2, std::string("a\xff\0b", 4)}, {3, ""}};
  batch.threads = {{1, 700, 1}, {2, 701, 0}};
  batch.streams = {{1, 0, 5, 7}, {2, 0, 5, 13, true, -5, 2, 1}};
  batch.shapes = {{1, 1, {2, 3, 4}, {5, 6, 7}, {0, 0, 0}, 32, 100, 200, 16},
                  {2, 1, {2, 3, 4}, {5, 6, 7}, {2, 1, 1}, 32, 100, 200, 16}};
  batch.graph_nodes = {{1, 4, 0xFFFFFFFFFFFFFFFFu}};
  batch.api_names = {{1, 1, 211, "cudaLaunchKernel", 1}};
  batch.nvtx_domains = {{1, ""}, {2, "NCCL"}};
  batch.nvtx_categories = {{1, 9, "loss"}};
  batch.communicators = {{1, 0xABC, 55, true, 8, 0, 3, 0, 2, "dp"},
                         {2, 0xABD, 0, false, -1, -1, -1, 1, -1, ""}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  const auto rows = [&](const char* sql) { return Query(file_->path(), sql); };
  EXPECT_EQ(rows("SELECT id, hex(text) FROM string"), "1|67656D6D\n2|61FF0062\n3|");
  EXPECT_EQ(rows("SELECT * FROM thread"), "1|1|700|1\n2|1|701|NULL");
  EXPECT_EQ(rows("SELECT * FROM stream"), "1|1|0|5|7|NULL|NULL|NULL\n2|1|0|5|13|-5|2|1");
  EXPECT_EQ(rows("SELECT * FROM kernel_shape"),
            "1|1|2|3|4|5|6|7|NULL|NULL|NULL|32|100|200|16\n2|1|2|3|4|5|6|7|2|1|1|32|100|200|16");
  EXPECT_EQ(rows("SELECT * FROM graph_node"), "1|4|-1");
  EXPECT_EQ(rows("SELECT * FROM api_name"), "1|1|211|cudaLaunchKernel|1");
  EXPECT_EQ(rows("SELECT * FROM nvtx_domain"), "1|1|\n2|1|NCCL");
  EXPECT_EQ(rows("SELECT * FROM nvtx_category"), "1|9|loss");
  EXPECT_EQ(rows("SELECT * FROM communicator"),
            "1|1|2748|55|8|0|3|NULL|2|dp\n2|1|2749|NULL|NULL|NULL|NULL|1|NULL|NULL");
}

TEST_F(RunFileTest, StoresStacks) {
  Batch batch;
  batch.strings = {{1, "Model.forward"}, {2, "/home/me/train.py"}};
  batch.threads = {{1, 700, 0}};
  batch.code_places = {{1, 1, 2, 41, 30}, {2, 1, 2, 0, -1}};
  batch.strings.push_back({3, "Net.fc"});
  batch.stacks = {{1, 0, 1, 3}, {2, 1, 2, 0}};
  batch.stack_samples = {{5, 1, 2, 1, false, 0, 3, 400}, {6, 1, 0, 2, true, 9}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM code_place"), "1|1|2|41|30\n2|1|2|0|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM stack"), "1|NULL|1|3\n2|1|2|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM stack_sample"),
            "5|1|2|1|NULL|3|400\n6|1|NULL|2|9|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT stack, depth, module FROM stack_frames WHERE stack = 2"),
            "2|0|NULL\n2|1|Net.fc");
  EXPECT_EQ(
      Query(file_->path(), "SELECT time_ns, tid, kind, file, line, samples FROM stack_samples"),
      "1700000000000000005|700|sample|/home/me/train.py|0|4\n"
      "1700000000000000006|700|wait|NULL|NULL|1");
  EXPECT_EQ(Query(file_->path(), "SELECT depth, line FROM stack_frames WHERE stack = 2"),
            "0|0\n1|41");
}

TEST_F(RunFileTest, StoresKernelsCopiesAndMemsets) {
  Batch batch;
  batch.kernels = {{-5, 0, 1, 2, 0xFFFFFFFFFFu, 0}, {0, 7, 1, 2, 3, 4}};
  batch.memcpys = {{1, 2, 3, 10, 3, 3, true, 1 << 20, 9, 0, 0, 1},
                   {1, 2, 3, 1, 2, 3, false, 5, 9, 8, -1, -1}};
  batch.memsets = {{1, 2, 3, 0xFFFFFFFF, 3, 64, 9, 0}, {1, 2, 3, 0, 3, 64, 9, 8}};
  batch.memory_operations = {{5, 1, 1, 3, 1 << 20, 0x7F00, 0, false, 9},
                             {6, 1, 2, 3, 0, 0xF000'0000'0000'0000, 2, true, 10}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM memory_operation"),
            "5|1|1|1|3|1048576|32512|NULL|0|9\n6|1|1|2|3|0|-1152921504606846976|2|1|10");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM kernel"),
            "-5|0|1|2|1099511627775|NULL\n0|7|1|2|3|4");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM memcpy"),
            "1|2|3|10|3|3|1|1048576|9|NULL|0|1\n1|2|3|1|2|3|0|5|9|8|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM memset"),
            "1|2|3|4294967295|3|64|9|NULL\n1|2|3|0|3|64|9|8");
}

TEST_F(RunFileTest, StoresHostEvents) {
  Batch batch;
  batch.apis = {{0, 0, 1, 2, 3, 0}, {1, 2, 3, 4, 5, 719}};
  batch.syncs = {{1, 2, 3, 1, 4, 5}, {1, 2, 3, 4, 0, 0}};
  batch.collectives = {{7, 1, 2, 3, 4, 5, 6, 0, 0, 0}, {9, 1, -1, 3, 4, 0, 6, -1, -1, -1}};
  batch.collective_plans = {{7, 1, 2, 3, 4, 5, 6, 7, 8, 9, true, 10, 11},
                            {9, 1, 2, -1, 4, 0, 0, 0, -1, -1, true, 10, -1},
                            {9, 1, 2, -1, 4, 0, 0, 0, -1, -1, false, 0, 0}};
  batch.clock_pairs = {{1, 2, 3, 4, 0, true}, {1, 2, 3, 4, 5, false}};
  batch.gaps = {{0, -1, "max_size"}, {0, 0, "max_size"}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  const auto rows = [&](const char* sql) { return Query(file_->path(), sql); };
  EXPECT_EQ(rows("SELECT * FROM api"), "0|0|1|2|3|0\n1|2|3|4|5|719");
  EXPECT_EQ(rows("SELECT * FROM sync"), "1|2|3|1|4|5\n1|2|3|4|NULL|NULL");
  EXPECT_EQ(rows("SELECT * FROM collective"),
            "7|1|2|3|4|5|6|0|0|0\n9|1|NULL|3|4|NULL|6|NULL|NULL|NULL");
  EXPECT_EQ(rows("SELECT * FROM collective_plan"),
            "7|1|2|3|4|5|6|7|8|9|10|11\n9|1|2|NULL|4|NULL|NULL|NULL|NULL|NULL|10|NULL\n"
            "9|1|2|NULL|4|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(rows("SELECT * FROM clock_pair"), "1|1|2|3|4|0\n1|1|2|3|4|NULL");
  EXPECT_EQ(rows("SELECT * FROM capture_gap"), "0|NULL|1|max_size\n0|0|1|max_size");
}

NvtxRow Nvtx(std::int64_t start, std::int64_t dur, std::uint64_t row = 0) {
  NvtxRow nvtx{};
  nvtx.start = start;
  nvtx.dur = dur;
  nvtx.thread = nvtx.domain = 1;
  nvtx.kind = 2;
  nvtx.row = row;
  return nvtx;
}

TEST_F(RunFileTest, StoresNvtxWithEveryPayload) {
  Batch batch;
  batch.nvtx.assign(4, Nvtx(1, 2));
  batch.nvtx[1].text = 3;
  batch.nvtx[1].category = 4;
  batch.nvtx[1].has_color = true;
  batch.nvtx[1].payload_type = NvtxRow::Payload::kInteger;
  batch.nvtx[1].payload_integer = -6;
  batch.nvtx[2].payload_type = NvtxRow::Payload::kReal;
  batch.nvtx[2].payload_real = 0.5;
  batch.nvtx[3].payload_type = NvtxRow::Payload::kBlob;
  batch.nvtx[3].payload_blob = "xyz";
  EXPECT_EQ(Stored(batch, "SELECT *, typeof(payload) FROM nvtx"),
            "1|2|1|2|1|NULL|NULL|NULL|NULL|null\n1|2|1|2|1|3|4|0|-6|integer\n"
            "1|2|1|2|1|NULL|NULL|NULL|0.5|real\n1|2|1|2|1|NULL|NULL|NULL|xyz|blob");
}

TEST_F(RunFileTest, AnOpenRangeIsReplacedWhenItCloses) {
  Batch batch;
  batch.nvtx = {Nvtx(10, -1, 1), Nvtx(20, 5), Nvtx(30, -1, 2)};
  EXPECT_EQ(Stored(batch, "SELECT start, dur FROM nvtx ORDER BY start"), "10|NULL\n20|5\n30|NULL");
  batch.nvtx = {Nvtx(40, 5), Nvtx(10, 90, 1), Nvtx(50, 5)};
  EXPECT_EQ(Stored(batch, "SELECT start, dur FROM nvtx ORDER BY start"),
            "10|90\n20|5\n30|NULL\n40|5\n50|5");
}

TEST_F(RunFileTest, StoresDevicesFactsAndHealth) {
  Batch batch;
  batch.devices = {{0, "NVIDIA H200", "GPU-1", "0000:01:00.0", 132, 9, 0, 1, 2, 3, 4, 5},
                   {1, "other", "", "", -1, -1, -1, -1, -1, -1, -1, -1}};
  batch.facts = {{"env", "NCCL_DEBUG", "INFO", {}},
                 {"env", "NCCL_P2P", "", {}},
                 {"gpu", "0.acs", "", "root only"}};
  batch.health = {{"kernel", "seen", 5, ""}, {"start", "failed", 1, "no CUPTI"}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  batch.health = {{"kernel", "seen", 9, ""}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM device"),
            "1|0|NVIDIA H200|GPU-1|0000:01:00.0|132|9|0|1|2|3|4|5\n"
            "1|1|other|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM system_fact"),
            "1|env|NCCL_DEBUG|INFO|NULL\n1|env|NCCL_P2P||NULL\n1|gpu|0.acs|NULL|root only");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM health"),
            "1|kernel|seen|9|NULL\n1|start|failed|1|no CUPTI");
}

TEST_F(RunFileTest, StoresSamples) {
  Batch batch;
  batch.device_samples = {{10, 0, 1755, 2619, 400'000, 60, 4, 97, 41, 1000},
                          {20, 0, -1, -1, -1, -1, -1, -1, -1, -1}};
  batch.device_slow_samples = {{10, 0, 5, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0},
                               {20, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};
  batch.host_samples = {{10, 3, 100, 50, 1, 2, 4, 5}, {20, 3, 100, -1, -1, -1, -1, -1}};
  batch.workers = {{1, 77, 2, -5, 0, false}, {2, 78, 0, -5, 0, false}};
  batch.worker_samples = {{10, 1, 100, 4096, 4, 1}, {20, 1, -1, -1, 0, 0}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  batch = Batch();
  batch.workers = {{2, 78, 1, -5, 9, true}};
  EXPECT_EQ(Stored(batch, "SELECT * FROM device_sample"),
            "10|1|0|1755|2619|400000|60|4|97|41|1000\n"
            "20|1|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM device_slow_sample"),
            "10|1|0|5|16|1|2|3|4|5|6|7|8|9|0\n"
            "20|1|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM host_sample"),
            "10|3|100|50|1|2|4|5\n20|3|100|NULL|NULL|NULL|NULL|NULL");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM worker"), "1|1|77|2|-5|NULL\n2|1|78|1|-5|9");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM worker_sample"),
            "10|1|100|4096|4|1\n20|1|NULL|NULL|0|0");
}

TEST_F(RunFileTest, StoresHowNcclConnectsRanks) {
  Batch batch;
  batch.nccl_setups = {{1, 0, 0, 2, 1, -1, 0, -1, -1, -1, -1, -1, -1, false},
                       {2, 3, 1, 8, 0, 2, 4, 24, 25, 26, 27, 28, 29, true}};
  batch.nccl_links = {{1, 0, 0, 1, true, 5, 0, 0, -1, -1, -1, 2},
                      {2, 1, 0, -1, false, 6, 7, 8, 3, 1, 4, 24}};
  ASSERT_TRUE(file_->Write(batch)) << file_->last_error();
  batch = Batch();
  batch.nccl_setups = {{1, 9, 0, 2, 1, -1, 0, -1, -1, -1, -1, -1, -1, false}};
  batch.nccl_links = {{1, 0, 0, 1, true, 5, 0, 0, -1, -1, -1, 4}};
  EXPECT_EQ(Stored(batch, "SELECT * FROM nccl_setup"),
            "1|1|9|0|2|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0\n"
            "2|1|3|1|8|0|2|4|24|25|26|27|28|29|1");
  EXPECT_EQ(Query(file_->path(), "SELECT * FROM nccl_link"),
            "1|1|NULL|0|1|1|5|NULL|NULL|NULL|NULL|NULL|4\n"
            "2|1|1|0|NULL|0|6|7|8|3|1|4|24");
}

TEST_F(RunFileTest, IsTheUsersOwn) {
  struct stat file {};
  ASSERT_EQ(stat(file_->path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
}

TEST_F(RunFileTest, TheProcessRowIsReplacedWhenFactsChange) {
  Batch batch;
  ProcessRow process = TestHeader().process;
  process.parent_pid = 1;
  process.rank = 0;
  process.local_rank = 1;
  process.world_size = 2;
  process.local_world_size = 3;
  process.restart = 0;
  process.executable = "/bin/python";
  process.command_line = "python train.py";
  process.working_directory = "/home";
  process.launcher = "torchrun";
  process.driver_version = 13000;
  process.runtime_version = 12060;
  process.cupti_version = 24;
  process.cupti_path = "libcupti.so.12";
  process.nccl_version = 22809;
  batch.process = {process};
  EXPECT_EQ(Stored(batch, "SELECT * FROM process"),
            "1|77|1|node7|0|1|2|3|job-5|0|10|NULL|/bin/python|python "
            "train.py|/home|torchrun|13000|12060|24|"
            "libcupti.so.12|22809|NULL|NULL|NULL|NULL");
}

TEST_F(RunFileTest, AFinishedRecordingIsOneFile) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  EXPECT_TRUE(std::filesystem::exists(file_->path() + "-wal"));
  EXPECT_TRUE(file_->Finish(1234)) << file_->last_error();
  EXPECT_EQ(folder_.Names(), std::set<std::string>{"run.db"});
  EXPECT_EQ(file_->bytes(), static_cast<std::int64_t>(std::filesystem::file_size(file_->path())));
  EXPECT_EQ(Query(file_->path(), "PRAGMA journal_mode"), "delete");
  EXPECT_EQ(Query(file_->path(), "SELECT end FROM process"), "1234");
  EXPECT_EQ(Query(file_->path(), "SELECT value FROM meta WHERE key = 'closed'"), "1");
  EXPECT_FALSE(file_->Write(NumberedBatch(2, 10)));
  EXPECT_FALSE(file_->Finish(1235));
}

TEST_F(RunFileTest, AReaderAtTheEndKeepsTheLogButLosesNothing) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open_v2(file_->path().c_str(), &reader, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT * FROM kernel", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_FALSE(file_->Finish(1234));
  EXPECT_NE(file_->last_error().find("reader"), std::string::npos) << file_->last_error();
  sqlite3_close(reader);
  EXPECT_EQ(Query(file_->path(), "SELECT end FROM process"), "1234");
}

TEST_F(RunFileTest, AReaderThatLeavesSoonIsWaitedFor) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open_v2(file_->path().c_str(), &reader, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "SELECT * FROM kernel", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread leaves([reader] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    sqlite3_close(reader);
  });
  EXPECT_TRUE(file_->Finish(1234)) << file_->last_error();
  leaves.join();
  EXPECT_EQ(folder_.Names(), std::set<std::string>{"run.db"});
}

TEST_F(RunFileTest, AReaderCanFollow) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  EXPECT_EQ(Query(file_->path(), "SELECT count(*) FROM kernel"), "10");
  ASSERT_TRUE(file_->Write(NumberedBatch(2, 10)));
  EXPECT_EQ(Query(file_->path(), "SELECT count(*) FROM kernel"), "20");
  // A program that looks at its own recording drops our locks: the claim must be back.
  close(open(file_->path().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file_->Write(NumberedBatch(3, 10)));
  EXPECT_EQ(Wait(Fork([&] {
              std::string why;
              const auto other = RunFile::Create(folder_ / "run.db", TestHeader(), &why);
              return other && other->path() != folder_ / "run.db" ? 0 : 1;
            })),
            0);
}

TEST_F(RunFileTest, GoesOnAfterAnotherProcessDeletedTheLog) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  // What the last user of a database does when it closes it, for which we must have lost our locks.
  EXPECT_EQ(Query(file_->path(), "PRAGMA wal_checkpoint(TRUNCATE)"), "0|0|0");
  std::filesystem::remove(file_->path() + "-wal");
  std::filesystem::remove(file_->path() + "-shm");
  ASSERT_TRUE(file_->Write(NumberedBatch(2, 10))) << file_->last_error();
  EXPECT_EQ(file_->reopened(), 1);
  EXPECT_TRUE(file_->Finish(1)) << file_->last_error();
  EXPECT_EQ(Query(file_->path(), "SELECT correlation, count(*) FROM kernel GROUP BY 1"),
            "1|10\n2|10");
}

TEST_F(RunFileTest, ABatchThatFailsStoresNothing) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  // The process may not let the file grow, and must not be ended by SIGXFSZ.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = static_cast<rlim_t>(file_->bytes());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_FALSE(file_->Write(NumberedBatch(2, 100'000)));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(file_->last_error().find(file_->path()), std::string::npos) << file_->last_error();
  EXPECT_EQ(Query(file_->path(), "SELECT count(*) FROM kernel"), "10");
  EXPECT_TRUE(file_->Write(NumberedBatch(2, 100'000))) << file_->last_error();
  EXPECT_EQ(file_->reopened(), 0);
  EXPECT_EQ(Query(file_->path(), "SELECT count(*) FROM kernel"), "100010");
}

TEST_F(RunFileTest, AnAbandonedRecordingIsNotTouched) {
  ASSERT_TRUE(file_->Write(NumberedBatch(1, 10)));
  EXPECT_EQ(Wait(Fork([&] {
              file_.reset();
              return 0;
            })),
            0);
  // The parent goes on, its claim and SQLite's locks undisturbed.
  EXPECT_TRUE(file_->Write(NumberedBatch(3, 10))) << file_->last_error();
  EXPECT_EQ(file_->reopened(), 0);
  EXPECT_EQ(Query(file_->path(), "SELECT correlation, count(*) FROM kernel GROUP BY 1"),
            "1|10\n3|10");
}

TEST_F(RunFileTest, SurvivesAChangeOfTheWorkingDirectory) {
  TemporaryFolder elsewhere;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / ".");
  std::string why;
  auto file = RunFile::Create("relative.db", TestHeader(), &why);
  std::filesystem::current_path(elsewhere / ".");
  const bool written = file && file->Write(NumberedBatch(1, 10)) && file->Finish(1);
  std::filesystem::current_path(before);
  EXPECT_TRUE(written) << why;
  EXPECT_EQ(Query(folder_ / "relative.db", "SELECT count(*) FROM kernel"), "10");
}

TEST(RunFileCreateTest, MovesADeadRecordingAsideWithItsLog) {
  TemporaryFolder folder;
  ASSERT_EQ(Wait(Fork([&] {
              std::string why;
              auto file = RunFile::Create(folder / "run.db",
                                          TestHeader(RunFile::Journal::kWriteAhead), &why);
              return file && file->Write(NumberedBatch(7, 10)) ? 0 : 1;
            })),
            0);
  ASSERT_TRUE(std::filesystem::exists(folder / "run.db-wal"));
  std::string why;
  const auto file = RunFile::Create(folder / "run.db", TestHeader(), &why);
  ASSERT_TRUE(file) << why;
  EXPECT_EQ(file->path(), folder / "run.db");
  EXPECT_EQ(Query(folder / "run.db.1", "SELECT correlation, count(*) FROM kernel"), "7|10");
  EXPECT_EQ(Query(folder / "run.db", "SELECT count(*) FROM kernel"), "0");
  EXPECT_TRUE(file->Finish(1)) << file->last_error();
}

TEST(RunFileCreateTest, LeavesNothingBehindWhenItFails) {
  TemporaryFolder folder;
  // SQLite refuses names this long, the file system does not.
  std::string deep;
  for (int i = 0; i < 5; ++i) deep += std::string(120, 'd') + "/";
  std::string why;
  EXPECT_FALSE(RunFile::Create(folder / (deep + "run.db"), TestHeader(), &why));
  EXPECT_NE(why.find("run.db: cannot open"), std::string::npos) << why;
  EXPECT_FALSE(std::filesystem::exists(folder / (deep + "run.db")));
}

TEST(RunFileCreateTest, ATruncatedJournalLeavesNoSharedMemory) {
  TemporaryFolder folder;
  std::string why;
  auto file = RunFile::Create(folder / "run.db", TestHeader(RunFile::Journal::kTruncate), &why);
  ASSERT_TRUE(file) << why;
  ASSERT_TRUE(file->Write(NumberedBatch(1, 10)));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.db-shm"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.db-wal"));
  EXPECT_TRUE(file->Finish(1)) << file->last_error();
  EXPECT_EQ(folder.Names(), std::set<std::string>{"run.db"});
}

}  // namespace
}  // namespace traceinject
