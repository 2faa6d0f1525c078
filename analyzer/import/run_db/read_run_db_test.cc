// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/read_run_db.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadRunDbTest = ReadFixture;

TEST_F(ReadRunDbTest, EveryColumn) {
  RunDbFixture file(path_, {.base_ns = 1'000'000,
                            .run_id = "id",
                            .host = "h",
                            .pid = 7,
                            .rank = 3,
                            .local_rank = 1,
                            .world_size = 8,
                            .start_ns = -5,
                            .end_ns = 5'000,
                            .command_line = "cmd"});
  file.AddDevice({.device = 1, .name = "GPU", .sm_count = 10});
  const auto call = file.AddApi({.start_ns = 10,
                                 .dur_ns = 20,
                                 .name = "cuLaunchKernel",
                                 .domain = ApiDomain::kDriver,
                                 .tid = 70,
                                 .result = 2});
  file.AddKernel({.start_ns = 100,
                  .dur_ns = 50,
                  .name = "_ZN2at6native10gatherTopKIfEEvPT_",
                  .device = 1,
                  .stream = 9,
                  .correlation = call,
                  .graph_node = 4,
                  .grid = {2, 3, 4},
                  .block = {32, 2, 1}});
  file.AddMemcpy({.start_ns = 200,
                  .dur_ns = 5,
                  .bytes = 1024,
                  .kind = 10,
                  .src_kind = 3,
                  .dst_kind = 3,
                  .async = false,
                  .device = 1,
                  .src_device = 0,
                  .dst_device = 1});
  file.AddMemset({.start_ns = 300, .dur_ns = 1, .bytes = 64, .device = 1});
  file.AddSync({.start_ns = 30,
                .dur_ns = 2,
                .kind = SyncKind::kStreamWaitsEvent,
                .event = 5,
                .stream = 9,
                .device = 1});
  file.AddNvtx(
      {.start_ns = 40, .dur_ns = std::nullopt, .text = "open", .domain = "d", .category = 6});
  file.AddNvtx({.start_ns = 50, .dur_ns = 0, .text = "mark", .kind = NvtxKind::kMark});
  const auto communicator =
      file.AddCommunicator({.hash = 0xabc, .created_ns = 1, .size = 8, .rank = 3, .device = 1});
  file.AddCollective({.start_ns = 60,
                      .dur_ns = 3,
                      .function = "Send",
                      .bytes = 99,
                      .communicator = communicator,
                      .reduction = std::nullopt,
                      .peer = 2});
  file.AddGap(400, std::nullopt, "max_size");
  file.AddHealth("kernel", "seen", 12, "why");
  file.AddFact("env", "NCCL_DEBUG", "INFO");
  file.Close();

  const RecordedFile read = Read();
  EXPECT_TRUE(read.notes.empty()) << read.notes.front();
  EXPECT_EQ(read.base_ns, 1'000'000);
  ASSERT_EQ(read.ranks.size(), 1u);
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(rank.path, path_);
  EXPECT_EQ(rank.schema_version, kSchemaVersion);
  EXPECT_EQ(rank.run_id, "id");
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.process.pid, 7);
  EXPECT_EQ(rank.process.host, "h");
  EXPECT_EQ(rank.process.local_rank, 1);
  EXPECT_EQ(rank.process.world_size, 8);
  EXPECT_EQ(rank.process.command_line, "cmd");
  EXPECT_EQ(rank.process.driver_version, 13000);
  EXPECT_EQ(rank.process.nccl_version, std::nullopt);
  EXPECT_EQ(rank.start, -5);
  EXPECT_EQ(rank.end, 5'000);
  EXPECT_TRUE(rank.closed);

  ASSERT_EQ(rank.devices.size(), 1u);
  EXPECT_EQ(rank.devices[0].ordinal, 1);
  EXPECT_EQ(rank.devices[0].name, "GPU");
  EXPECT_EQ(rank.devices[0].sm_count, 10);
  const GpuOps& ops = rank.devices[0].ops;
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops.start, (TimeColumn{100, 200, 300}));
  EXPECT_EQ(ops.end, (TimeColumn{150, 205, 301}));
  EXPECT_EQ(ops.kind, (std::vector{OpKind::kKernel, OpKind::kMemcpy, OpKind::kMemset}));
  EXPECT_EQ(ops.kernel_class,
            (std::vector{KernelClass::kEmbedding, KernelClass::kMemcpy, KernelClass::kMemset}));
  EXPECT_EQ(rank.streams[ops.stream[0]].stream_id, 9u);
  EXPECT_EQ(ops.correlation[0], call);
  ASSERT_EQ(ops.launch.size(), 3u);
  EXPECT_EQ(ops.launch[0], 0u);
  EXPECT_EQ(ops.launch[1], kNone);
  EXPECT_EQ(rank.graph_nodes[ops.graph_node[0]].node_id, 4u);
  EXPECT_EQ(ops.graph_node[1], kNone);
  const KernelShape& shape = rank.shapes[ops.detail[0]];
  EXPECT_EQ(rank.string(shape.name), "void at::native::gatherTopK<float>(float*)");
  EXPECT_EQ(shape.grid[2], 4);
  EXPECT_EQ(shape.block[1], 2);
  EXPECT_EQ(shape.cluster[0], 0);
  const Transfer& copy = rank.transfers[ops.detail[1]];
  EXPECT_EQ(copy.bytes, 1024);
  EXPECT_EQ(copy.kind, 10);
  EXPECT_FALSE(copy.async);
  EXPECT_EQ(copy.src_device, 0);
  EXPECT_EQ(copy.dst_device, 1);
  EXPECT_EQ(rank.transfers[ops.detail[2]].bytes, 64);

  ASSERT_EQ(rank.api.size(), 1u);
  EXPECT_EQ(rank.threads[rank.api.thread[0]].tid, 70);
  EXPECT_EQ(rank.threads[rank.api.thread[0]].name, "thread-70");
  EXPECT_EQ(rank.api_names[rank.api.name[0]].name, "cuLaunchKernel");
  EXPECT_EQ(rank.api_names[rank.api.name[0]].domain, ApiDomain::kDriver);
  EXPECT_EQ(rank.api.result[0], 2);
  ASSERT_EQ(rank.syncs.size(), 1u);
  EXPECT_EQ(rank.syncs.kind[0], SyncKind::kStreamWaitsEvent);
  EXPECT_EQ(rank.syncs.event[0], 5u);
  EXPECT_EQ(rank.streams[rank.syncs.stream[0]].stream_id, 9u);
  ASSERT_EQ(rank.nvtx.size(), 2u);
  EXPECT_EQ(rank.nvtx.end, (TimeColumn{kOpen, 50}));
  EXPECT_EQ(rank.string(rank.nvtx.text[0]), "open");
  EXPECT_EQ(rank.nvtx_domains[rank.nvtx.domain[0]], "d");
  EXPECT_EQ(rank.nvtx.category[0], 6u);
  EXPECT_EQ(rank.nvtx.category[1], kNone);
  ASSERT_EQ(rank.collectives.size(), 1u);
  EXPECT_EQ(rank.string(rank.collectives.function[0]), "Send");
  EXPECT_EQ(rank.communicators[rank.collectives.communicator[0]].size, 8);
  EXPECT_EQ(rank.collectives.bytes[0], 99);
  EXPECT_EQ(rank.collectives.reduction[0], -1);
  EXPECT_EQ(rank.collectives.peer[0], 2);
  ASSERT_EQ(rank.gaps.size(), 1u);
  EXPECT_EQ(rank.gaps[0].end, kOpen);
  ASSERT_EQ(rank.health.size(), 1u);
  EXPECT_EQ(rank.health[0].detail, "why");
  ASSERT_EQ(rank.facts.size(), 1u);
  EXPECT_EQ(rank.facts[0].value, "INFO");
  EXPECT_GT(progress_.rows, 8u);
}

TEST_F(ReadRunDbTest, SortsEveryColumnTogether) {
  // Each row's columns can be computed from its start, so a permutation that forgets one shows.
  std::vector<int> numbers(500);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
  RunDbFixture file(path_);
  for (const int n : numbers) {
    const auto id = static_cast<std::uint64_t>(n) + 1;
    file.AddApi({.start_ns = n * 10,
                 .dur_ns = n,
                 .name = fmt::format("call{}", n % 3),
                 .api_class = ApiClass::kOther,
                 .tid = n % 5,
                 .correlation = id,
                 .result = n});
    if (n % 2 == 0) {
      file.AddKernel({.start_ns = n * 10 + 5,
                      .dur_ns = n,
                      .name = fmt::format("k{}", n % 7),
                      .correlation = id});
    } else {
      file.AddMemcpy(
          {.start_ns = n * 10 + 5, .dur_ns = n, .bytes = n, .stream = 8, .correlation = id});
    }
    file.AddNvtx({.start_ns = n * 10, .dur_ns = n, .text = fmt::format("t{}", n), .tid = n % 5});
    file.AddCollective({.start_ns = n * 10, .dur_ns = n, .bytes = n});
    file.AddSync({.start_ns = n * 10, .dur_ns = n, .event = n});
  }
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  const GpuOps& ops = rank.devices.at(0).ops;
  ASSERT_EQ(ops.size(), 500u);
  for (std::uint32_t i = 0; i < 500; ++i) {
    const auto n = static_cast<TimeNs>(i);
    ASSERT_EQ(ops.start[i], n * 10 + 5);
    ASSERT_EQ(ops.end[i], n * 10 + 5 + n);
    ASSERT_EQ(ops.correlation[i], i + 1);
    ASSERT_EQ(ops.launch[i], i);
    ASSERT_EQ(ops.kind[i], i % 2 == 0 ? OpKind::kKernel : OpKind::kMemcpy);
    if (i % 2 == 0) {
      ASSERT_EQ(rank.string(rank.shapes[ops.detail[i]].name), fmt::format("k{}", i % 7));
    } else {
      ASSERT_EQ(rank.transfers[ops.detail[i]].bytes, n);
    }
    ASSERT_EQ(rank.streams[ops.stream[i]].stream_id, i % 2 == 0 ? 7u : 8u);
    ASSERT_EQ(rank.api.result[i], static_cast<int>(i));
    ASSERT_EQ(rank.threads[rank.api.thread[i]].tid, n % 5);
    ASSERT_EQ(rank.api_names[rank.api.name[i]].name, fmt::format("call{}", i % 3));
    ASSERT_EQ(rank.string(rank.nvtx.text[i]), fmt::format("t{}", i));
    ASSERT_EQ(rank.collectives.bytes[i], n);
    ASSERT_EQ(rank.syncs.event[i], i);
  }
}

// A long recording forgets texts, and stores one that comes again under another id.
TEST_F(ReadRunDbTest, OneTextUnderTwoIdsIsOneString) {
  RunDbFixture file(path_, {});
  file.AddNvtx({.start_ns = 10, .dur_ns = 1, .text = "again"});
  file.AddNvtx({.start_ns = 20, .dur_ns = 1, .text = "other"});
  file.Execute(
      "INSERT INTO string VALUES (77, 'again');"
      "UPDATE nvtx SET text = 77 WHERE start = 20;");
  file.Close();

  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1u);
  const NvtxRanges& nvtx = read.ranks[0].nvtx;
  ASSERT_EQ(nvtx.size(), 2u);
  EXPECT_EQ(nvtx.text[0], nvtx.text[1]);
  EXPECT_EQ(read.ranks[0].string(nvtx.text[1]), "again");
}

TEST_F(ReadRunDbTest, MemoryOperations) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddMemoryOperation({.time_ns = 900, .release = true, .address = -4096, .correlation = 8});
  file.AddMemoryOperation({.time_ns = 100,
                           .device = 1,
                           .memory_kind = 2,
                           .bytes = 64,
                           .address = 32,
                           .correlation = 7});
  file.AddMemoryOperation({.time_ns = 100, .bytes = INT64_MAX});
  // Of no process, of a kind that is not known, and at no time.
  file.Execute("INSERT INTO memory_operation VALUES (1, 9, 0, 1, 3, 8, 8, NULL, 0, 1)");
  file.Execute("INSERT INTO memory_operation VALUES (1, 1, 0, 3, 3, 8, 8, NULL, 0, 1)");
  file.Execute(
      "INSERT INTO memory_operation VALUES (9223372036854775807, 1, 0, 1, 3, 8, 8, NULL, 0, 1)");
  file.Close();
  const RecordedFile read = Read();
  const MemoryOperations& memory = read.ranks[0].memory;
  EXPECT_EQ(read.notes.size(), 4U);
  ASSERT_EQ(memory.time, (std::vector<TimeNs>{100, 100, 900})) << "by time";
  EXPECT_EQ(memory.device, (std::vector<std::int32_t>{1, 0, 0}));
  EXPECT_EQ(memory.release, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(memory.memory_kind, (std::vector<std::uint8_t>{2, 3, 3}));
  EXPECT_EQ(memory.bytes[0], 64);
  EXPECT_LT(memory.bytes[1], INT64_MAX) << "sums must not overflow";
  EXPECT_EQ(memory.address[2], static_cast<std::uint64_t>(-4096));
  EXPECT_EQ(memory.correlation, (std::vector<std::uint64_t>{7, 0, 8}));
  EXPECT_EQ(read.ranks[0].end, 900) << "the last thing seen";
}

TEST_F(ReadRunDbTest, StreamsHavePrioritiesAndNames) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 0, .dur_ns = 1});
  file.Execute(
      "INSERT INTO string VALUES (90, 'copies');"
      "INSERT INTO stream VALUES (90, 1, 0, 1, 30, -5, 2, 90), (91, 1, 0, 1, 31, NULL, NULL, "
      "NULL)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  ASSERT_EQ(rank.streams.size(), 3U);
  EXPECT_EQ(rank.streams[0].priority, std::nullopt);
  EXPECT_EQ(rank.streams[0].name, kNone);
  EXPECT_EQ(rank.streams[1].priority, -5);
  EXPECT_EQ(rank.string(rank.streams[1].name), "copies");
  EXPECT_EQ(rank.streams[2].priority, std::nullopt);
}

TEST_F(ReadRunDbTest, DevicesAreSplitAndOrdered) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 1, .device = 3});
  file.AddKernel({.start_ns = 1, .dur_ns = 1, .device = 0});
  file.Execute("DELETE FROM device WHERE device = 3");  // the driver did not describe it
  file.Close();
  const RecordedFile read = Read();
  const auto& devices = read.ranks.at(0).devices;
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].ordinal, 0);
  EXPECT_EQ(devices[0].ops.start, TimeColumn{1});
  EXPECT_EQ(devices[1].ordinal, 3);
  EXPECT_EQ(devices[1].name, "");
  EXPECT_EQ(devices[1].ops.start, TimeColumn{5});
}

TEST_F(ReadRunDbTest, JoinPrefersCallsThatLaunch) {
  RunDbFixture file(path_);
  file.AddApi({.start_ns = 0,
               .dur_ns = 1,
               .name = "cudaEventRecord",
               .api_class = ApiClass::kEvent,
               .correlation = 5});
  for (const TimeNs start : {2, 4}) {
    file.AddApi({.start_ns = start,
                 .dur_ns = 1,
                 .name = "cudaGraphLaunch",
                 .api_class = ApiClass::kGraphLaunch,
                 .correlation = 5});
  }
  file.AddApi({.start_ns = 6,
               .dur_ns = 1,
               .name = "cudaMallocAsync",
               .api_class = ApiClass::kAllocate,
               .correlation = 6});
  file.AddKernel({.start_ns = 10, .dur_ns = 1, .correlation = 5});
  file.AddKernel({.start_ns = 11, .dur_ns = 1, .correlation = 5});  // a graph launch serves many
  file.AddKernel({.start_ns = 12, .dur_ns = 1, .correlation = 6});
  file.AddKernel({.start_ns = 13, .dur_ns = 1, .correlation = 7});
  file.AddKernel({.start_ns = 14, .dur_ns = 1, .correlation = 0});
  file.Close();
  const RecordedFile dense = Read();
  const auto launches = [](const RecordedFile& file_read) {
    const auto& launch = file_read.ranks.at(0).devices.at(0).ops.launch;
    return std::vector<std::uint32_t>(launch.begin(), launch.end());
  };
  EXPECT_EQ(launches(dense), (std::vector<std::uint32_t>{1, 1, 3, kNone, kNone}));

  // Ids far apart take the other kind of index.
  RunDbFixture sparse_file(path_);
  sparse_file.AddApi({.start_ns = 0, .dur_ns = 1, .correlation = std::uint64_t{1} << 60});
  sparse_file.AddApi({.start_ns = 1,
                      .dur_ns = 1,
                      .name = "cudaEventRecord",
                      .api_class = ApiClass::kEvent,
                      .correlation = 5});
  sparse_file.AddApi({.start_ns = 2, .dur_ns = 1, .correlation = 5});
  sparse_file.AddKernel({.start_ns = 10, .dur_ns = 1, .correlation = 5});
  sparse_file.AddKernel({.start_ns = 11, .dur_ns = 1, .correlation = std::uint64_t{1} << 60});
  sparse_file.AddKernel({.start_ns = 12, .dur_ns = 1, .correlation = 6});
  sparse_file.Close();
  const RecordedFile sparse = Read();
  EXPECT_EQ(launches(sparse), (std::vector<std::uint32_t>{2, 0, kNone}));
}

TEST_F(ReadRunDbTest, KilledProcessEndsWithTheLastThingSeen) {
  RunDbFixture file(path_, {.closed = false});
  file.AddKernel({.start_ns = 100, .dur_ns = 50});
  file.AddNvtx({.start_ns = 180, .dur_ns = std::nullopt});
  file.Close();
  const RecordedFile read = Read();
  EXPECT_FALSE(read.ranks.at(0).closed);
  EXPECT_EQ(read.ranks.at(0).end, 180);
}

TEST_F(ReadRunDbTest, AHighRowidMakesNoRoom) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 1, .dur_ns = 1});
  file.Execute(
      "INSERT INTO kernel (rowid, start, dur, stream, shape, correlation) "
      "SELECT 4000000000, start, dur, stream, shape, correlation FROM kernel");
  file.Close();
  const auto read = TryRead();
  ASSERT_TRUE(read.ok()) << read.error();
  const GpuOps& ops = read.value().ranks.at(0).devices.at(0).ops;
  EXPECT_EQ(ops.size(), 2u);
  EXPECT_LT(ops.start.capacity(), 1'000'000u);
}

TEST_F(ReadRunDbTest, IsBrokenOff) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 1, .dur_ns = 1});
  file.Close();
  progress_.stop = true;
  const auto read = TryRead();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("canceled"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
