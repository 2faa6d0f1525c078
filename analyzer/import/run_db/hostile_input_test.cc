// SPDX-License-Identifier: Apache-2.0
// No reader crashes on any input: valid recordings with bytes changed, cut or shuffled either load
// or give a sentence. Worth most under the address sanitizer.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class HostileInputTest : public testing::Test {
 protected:
  HostileInputTest() {
    RunDbFixture file(folder_ / "good.db", {.rank = 0, .world_size = 2, .views = true});
    const auto communicator = file.AddCommunicator({.size = 2});
    for (int i = 0; i < 300; ++i) {
      file.AddLaunchedKernel({.start_ns = i * 100,
                              .dur_ns = 90,
                              .name = fmt::format("kernel_{}", i % 20),
                              .graph_node = 1},
                             i * 100 - 50, 20);
      file.AddMemcpy({.start_ns = i * 100, .dur_ns = 10, .bytes = i});
      file.AddNvtx({.start_ns = i * 100, .dur_ns = 10, .text = fmt::format("range {}", i)});
      file.AddCollective({.start_ns = i, .dur_ns = 10, .bytes = i, .communicator = communicator});
      file.AddSync({.start_ns = i, .dur_ns = 1, .event = i, .stream = 7});
    }
    AddOtherSources(&file);
    file.AddHealth("kernel", "seen", 300);
    file.Close();
    std::ifstream good(folder_ / "good.db", std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(good), {});
  }

  static void AddOtherSources(RunDbFixture* file) {
    const auto loader = file->AddDataLoader({.workers = 2});
    const auto worker = file->AddWorker({.loader = loader, .end_ns = 20'000});
    for (int i = 0; i < 20; ++i) {
      const TimeNs time = i * 1000;
      file->AddPlan({.collective = 1 + i, .time_ns = time, .launch_start_ns = time});
      file->AddGemm({.start_ns = time, .dur_ns = 50, .m = 64 + i, .n = 64, .k = 64});
      file->AddAttention({.start_ns = time, .dur_ns = 50, .batch = 1 + i});
      file->AddMemoryOperation({.time_ns = time, .release = i % 2 != 0, .bytes = 4096});
      file->AddDataWait({.start_ns = time, .dur_ns = 50, .loader = loader, .batch = i});
      file->AddStepMark({.time_ns = time});
      file->AddHostSpan({.start_ns = time, .dur_ns = 50});
      file->AddDeviceSample({.time_ns = time, .sm_clock_mhz = 1980, .memory_used_bytes = 1 << 30});
      file->AddAllocatorSample({.time_ns = time, .allocated_bytes = 1 << 20});
      file->AddHostSample({.time_ns = time, .cpu_ns = time, .runqueue_ns = i});
      file->AddWorkerSample({.time_ns = time, .worker = worker, .cpu_ns = time});
    }
    file->AddFact("gpu", "0.pcie_width", "16");
    file->Execute(
        "INSERT INTO nccl_setup(id, proc, communicator, rank, size, device, nvls) "
        "VALUES (1, 1, 1, 0, 2, 0, 0);"
        "INSERT INTO nccl_link(id, proc, setup, rank, peer, sends, transport, channels) "
        "VALUES (1, 1, 1, 0, 1, 1, 1, 4)");
  }

  // True if it loaded. Every index of what loaded is then in range.
  bool Load(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return CheckLoads();
  }

  // The same of what is there.
  bool CheckLoads() {
    const auto run = LoadRun({path_}, {.threads = 1, .on_progress = {}});
    if (!run.ok()) {
      EXPECT_NE(run.error().find(path_), std::string::npos) << run.error();
      return false;
    }
    for (const Rank& rank : run.value().ranks) CheckIndices(rank);
    return true;
  }

  static void CheckIndices(const Rank& rank) {
    for (const Device& device : rank.devices) {
      const GpuOps& ops = device.ops;
      for (const std::size_t length :
           {ops.end.size(), ops.kind.size(), ops.kernel_class.size(), ops.stream.size(),
            ops.detail.size(), ops.correlation.size(), ops.launch.size(), ops.graph_node.size()}) {
        ASSERT_EQ(length, ops.size());
      }
      for (std::size_t i = 0; i < ops.size(); ++i) {
        ASSERT_GE(ops.end[i], ops.start[i]);
        ASSERT_LT(ops.stream[i], rank.streams.size());
        ASSERT_LT(ops.detail[i],
                  ops.kind[i] == OpKind::kKernel ? rank.shapes.size() : rank.transfers.size());
        ASSERT_TRUE(ops.launch[i] == kNone || ops.launch[i] < rank.api.size());
        ASSERT_TRUE(ops.graph_node[i] == kNone || ops.graph_node[i] < rank.graph_nodes.size());
      }
      ASSERT_TRUE(std::is_sorted(ops.start.begin(), ops.start.end()));
    }
    for (const KernelShape& shape : rank.shapes)
      ASSERT_TRUE(shape.name == kNone || shape.name < rank.strings.size());
    for (std::size_t i = 0; i < rank.api.size(); ++i) {
      ASSERT_LT(rank.api.thread[i], rank.threads.size());
      ASSERT_LT(rank.api.name[i], rank.api_names.size());
    }
    for (std::size_t i = 0; i < rank.nvtx.size(); ++i) {
      ASSERT_LT(rank.nvtx.domain[i], rank.nvtx_domains.size());
      ASSERT_TRUE(rank.nvtx.text[i] == kNone || rank.nvtx.text[i] < rank.strings.size());
    }
    for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
      ASSERT_LT(rank.collectives.function[i], rank.strings.size());
      ASSERT_TRUE(rank.collectives.communicator[i] == kNone ||
                  rank.collectives.communicator[i] < rank.communicators.size());
    }
    CheckIndicesOfOtherSources(rank);
  }

  // Indices: a column of them.
  template <typename Indices>
  static void ExpectBelow(const Indices& indices, std::size_t size, bool may_be_none) {
    for (const std::uint32_t index : indices)
      ASSERT_TRUE(index < size || (may_be_none && index == kNone)) << index << " of " << size;
  }

  static void CheckIndicesOfOtherSources(const Rank& rank) {
    ExpectBelow(rank.plans.collective, rank.collectives.size(), false);
    ExpectBelow(rank.plans.thread, rank.threads.size(), false);
    for (const auto* words : {&rank.plans.datatype, &rank.plans.algorithm, &rank.plans.protocol})
      ExpectBelow(*words, rank.strings.size(), true);
    ExpectBelow(rank.plans.launch, rank.api.size(), true);
    ExpectBelow(rank.gemms.shape, rank.gemm_shapes.size(), false);
    ExpectBelow(rank.gemms.thread, rank.threads.size(), false);
    ExpectBelow(rank.attentions.shape, rank.attention_shapes.size(), false);
    ExpectBelow(rank.attentions.thread, rank.threads.size(), false);
    ExpectBelow(rank.data_waits.loader, rank.loaders.size(), true);
    ExpectBelow(rank.data_waits.thread, rank.threads.size(), false);
    ExpectBelow(rank.step_marks.thread, rank.threads.size(), false);
    ExpectBelow(rank.host_spans.thread, rank.threads.size(), false);
    ExpectBelow(rank.worker_samples.worker, rank.workers.size(), false);
    for (const GemmShape& shape : rank.gemm_shapes)
      ASSERT_TRUE(shape.function == kNone || shape.function < rank.strings.size());
    for (const Worker& worker : rank.workers)
      ASSERT_TRUE(worker.loader == kNone || worker.loader < rank.loaders.size());
    for (const NcclSetup& setup : rank.nccl_setups)
      ASSERT_TRUE(setup.communicator == kNone || setup.communicator < rank.communicators.size());
    for (const NcclLink& link : rank.nccl_links)
      ASSERT_TRUE(link.setup == kNone || link.setup < rank.nccl_setups.size());
  }

  // What `sql` gives, one text a row.
  std::vector<std::string> Query(const std::string& sql) {
    std::vector<std::string> rows;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    sqlite3_exec(
        database, sql.c_str(),
        [](void* found, int, char** values, char**) {
          static_cast<std::vector<std::string>*>(found)->emplace_back(values[0]);
          return 0;
        },
        &rows, nullptr);
    sqlite3_close(database);
    return rows;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "bad.db";
  std::string good_;
};

TEST_F(HostileInputTest, ChangedBytes) {
  ASSERT_TRUE(Load(good_));
  std::mt19937 random(1);
  int loaded = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good_;
    const auto changes = 1 + random() % 32;
    for (unsigned i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    loaded += Load(bytes) ? 1 : 0;
    if (HasFatalFailure()) return;
  }
  // Changes that hit a value load, those that hit the structure do not: both ways were taken.
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, kRounds);
}

// Structure and types are right, and no value is what a recording could hold.
TEST_F(HostileInputTest, ValuesThatCannotBe) {
  for (const std::string table :
       {"collective",  "collective_plan",  "communicator",  "nccl_setup",
        "nccl_link",   "gemm_shape",       "gemm",          "attention_shape",
        "attention",   "memory_operation", "data_loader",   "data_wait",
        "step_mark",   "host_span",        "device_sample", "allocator_sample",
        "host_sample", "worker",           "worker_sample", "system_fact",
        "stream"}) {
    ASSERT_TRUE(Load(good_));
    const auto columns = Query("SELECT name FROM pragma_table_info('" + table + "')");
    ASSERT_FALSE(columns.empty()) << table;
    ASSERT_NE(Query("SELECT count(*) FROM " + table).front(), "0") << table;
    for (const std::string& column : columns) {
      for (const char* value : {"NULL", "-1", "4294967297", "9223372036854775807",
                                "-9223372036854775807 - 1", "x'ff00fe'"}) {
        SCOPED_TRACE(table + "." + column + " = " + value);
        std::ofstream(path_, std::ios::binary | std::ios::trunc)
            .write(good_.data(), static_cast<std::streamsize>(good_.size()));
        Query("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; UPDATE OR IGNORE " + table +
              " SET " + column + " = " + value);
        CheckLoads();
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(HostileInputTest, CutAndRepeatedParts) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = good_;
    const std::size_t at = random() % bytes.size(), length = random() % 5000;
    switch (round % 3) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, good_.substr(random() % good_.size(), length));
        break;
      default:
        bytes.resize(at);
        break;
    }
    Load(bytes);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace traceinject
