// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/rpd/rpd_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "analyzer/common/sqlite.h"
#include "analyzer/export/testing/sample_recording.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// As analyze reads such traces of others.
class RpdTraceTest : public testing::Test {
 protected:
  traceinject::Run ThereAndBack(const traceinject::Run& run) {
    const auto counts = WriteRpdTrace(run, path_);
    EXPECT_TRUE(counts.ok()) << counts.error();
    return LoadSample(path_);
  }
  // The first column of the first row.
  double Ask(const std::string& query) {
    const auto database = Database::Open(path_, SQLITE_OPEN_READONLY, nullptr, path_);
    EXPECT_TRUE(database.ok()) << database.error();
    auto asked = database.value().Prepare(query);
    EXPECT_TRUE(asked.ok()) << asked.error();
    const auto row = asked.value().Step();
    EXPECT_TRUE(row.ok() && row.value()) << query;
    return asked.value().real(0);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "trace.rpd";
};

using RpdOperation = std::tuple<std::int64_t, std::int64_t, std::string, std::uint32_t, bool>;
std::multiset<RpdOperation> OperationsOf(const traceinject::Run& run) {
  std::multiset<RpdOperation> operations;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      const GpuOps& ops = device.ops;
      for (std::size_t row = 0; row < ops.size(); ++row)
        operations.emplace(run.base_ns + ops.start[row], run.base_ns + ops.end[row],
                           ops.kind[row] == OpKind::kKernel
                               ? std::string(rank.string(rank.shapes[ops.detail[row]].name))
                               : std::to_string(static_cast<int>(ops.kind[row])),
                           rank.streams[ops.stream[row]].stream_id, ops.launch[row] != kNone);
    }
  }
  return operations;
}

using RpdCallOf = std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;
std::multiset<RpdCallOf> CallsOf(const traceinject::Run& run) {
  std::multiset<RpdCallOf> calls;
  for (const Rank& rank : run.ranks) {
    for (std::size_t row = 0; row < rank.api.size(); ++row)
      calls.emplace(run.base_ns + rank.api.start[row], run.base_ns + rank.api.end[row],
                    rank.api_names[rank.api.name[row]].name,
                    rank.threads[rank.api.thread[row]].tid);
  }
  return calls;
}

std::map<std::string, int> MarkersOf(const Rank& rank) {
  std::map<std::string, int> markers;
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row)
    ++markers[rank.nvtx_domains[rank.nvtx.domain[row]] + ":" +
              std::string(rank.string(rank.nvtx.text[row]))];
  return markers;
}

TEST_F(RpdTraceTest, OurOwnReaderOfSuchTracesTakesItBack) {
  WriteSampleRecording(folder_ / "run.db", {.rank = 0, .end_ns = 60'000});
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  const traceinject::Run after = ThereAndBack(run);
  EXPECT_EQ(OperationsOf(after), OperationsOf(run));
  EXPECT_EQ(CallsOf(after), CallsOf(run));
  const Rank& rank = after.ranks.at(0);
  auto markers = MarkersOf(rank);
  EXPECT_EQ(markers["torch:layer"], 1) << "of a domain";
  EXPECT_EQ(markers[":mark"], 1);
  EXPECT_EQ(markers[":garbage collection, generation 2"], 1);
  EXPECT_EQ(rank.data_waits.size(), 1U);
  EXPECT_EQ(rank.step_marks.time.size(), 1U);
  std::map<std::string, const KernelShape*> shapes;
  for (const KernelShape& shape : rank.shapes)
    shapes[std::string(rank.string(shape.name))] = &shape;
  EXPECT_EQ(shapes.at("second(float*)")->grid[0], 4);
  EXPECT_EQ(shapes.at("second(float*)")->block[1], 2);
  EXPECT_EQ(shapes.at("node")->grid[0], 0) << "of a graph's kernels no shape is told";
  ASSERT_EQ(rank.transfers.size(), 2U);
  EXPECT_EQ(rank.transfers[0].kind, 1);
  EXPECT_EQ(rank.transfers[0].bytes, 3'000);
  EXPECT_TRUE(rank.transfers[0].async);
  EXPECT_EQ(Ask("SELECT count(*) FROM rocpd_monitor WHERE monitorType = 'sclk'"), 2);
  EXPECT_EQ(Ask("SELECT value FROM rocpd_monitor WHERE monitorType = 'power'"), 432.5);
}

TEST_F(RpdTraceTest, ViewsAddUp) {
  WriteSampleRecording(folder_ / "run.db", {.rank = 0, .end_ns = 60'000});
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  ThereAndBack(run);
  const GpuOps& ops = run.ranks[0].devices[0].ops;
  TimeNs busy = 0;
  for (std::size_t row = 0; row < ops.size(); ++row) busy += ops.end[row] - ops.start[row];
  const auto count = static_cast<double>(ops.size());
  EXPECT_EQ(Ask("SELECT GpuTime FROM busy"), static_cast<double>(busy));
  EXPECT_EQ(Ask("SELECT sum(TotalCalls) FROM top"), count);
  EXPECT_NEAR(Ask("SELECT sum(Percentage) FROM top"), 100, 1e-6);
  EXPECT_EQ(Ask("SELECT count(*) FROM op"), count);
  EXPECT_EQ(Ask("SELECT count(*) FROM api WHERE domain = 'cuda'"),
            static_cast<double>(run.ranks[0].api.size()));
  EXPECT_EQ(Ask("SELECT count(*) FROM kernel"), 4) << "launched alone, not by the graph";
  EXPECT_EQ(Ask("SELECT size FROM copyop"), 3'000);
  EXPECT_EQ(Ask("SELECT size FROM copy"), 3'000);
  EXPECT_EQ(Ask("SELECT count(*) FROM nop WHERE node = 0"), count);
  EXPECT_EQ(Ask("SELECT min(pid) FROM napi"), static_cast<double>(run.ranks[0].process.pid));
}

TEST_F(RpdTraceTest, RecordingsOfTrainingComeBackAsTheyAre) {
  for (const char* name : {"transformer_h200.db.zst", "ddp_h200"}) {
    SCOPED_TRACE(name);
    const traceinject::Run run = LoadSample(std::string(TRACEINJECT_RECORDINGS) + "/" + name);
    const traceinject::Run after = ThereAndBack(run);
    EXPECT_EQ(after.ranks.size(), run.ranks.size());
    EXPECT_EQ(OperationsOf(after), OperationsOf(run));
    EXPECT_EQ(CallsOf(after), CallsOf(run));
  }
}

TEST_F(RpdTraceTest, MachinesAreToldApart) {
  for (int rank = 0; rank < 2; ++rank) {
    RunDbFixture file(folder_ / ("run.rank0000" + std::to_string(rank) + ".db"),
                      {.host = rank == 0 ? "a" : "b", .pid = 70, .rank = rank, .world_size = 2});
    file.AddDevice({});
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50, .name = "k"}, 10, 5);
    file.Close();
  }
  const traceinject::Run after = ThereAndBack(LoadSample(folder_ / "run.db"));
  ASSERT_EQ(after.ranks.size(), 2U);
  EXPECT_EQ(after.ranks[1].process.host, "node 1");
  EXPECT_EQ(after.ranks[1].process.pid, 70);
  EXPECT_EQ(after.ranks[1].devices.at(0).ordinal, 0);
  EXPECT_EQ(after.ranks[1].streams.at(0).stream_id, 7U);
  EXPECT_EQ(Ask("SELECT count(DISTINCT gpuId) FROM busy"), 2);
}

TEST_F(RpdTraceTest, WhatStoodThereStaysUntilItIsWhole) {
  EXPECT_FALSE(WriteRpdTrace(traceinject::Run(), folder_ / "none/trace.rpd").ok());
}

}  // namespace
}  // namespace traceinject
