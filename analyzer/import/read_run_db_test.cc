// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/read_run_db.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/import/open_recording.h"
#include "analyzer/import/run_db_fixture.h"
#include "analyzer/import/temporary_folder.h"

namespace traceinject {
namespace {

class ReadRunDbTest : public testing::Test {
 protected:
  RecordedFile Read(std::uint64_t most_rows = 0) {
    auto read = TryRead(most_rows);
    EXPECT_TRUE(read.ok()) << read.error();
    return read.ok() ? std::move(read).value() : RecordedFile();
  }
  Result<RecordedFile> TryRead(std::uint64_t most_rows = 0) {
    const auto database = OpenRecording(path_);
    if (!database.ok()) return Error{database.error()};
    return ReadRunDb(database.value(), progress_, {.most_rows = most_rows});
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  ReadProgress progress_;
};

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
  EXPECT_NE(read.error().find("broken off"), std::string::npos);
}

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
  EXPECT_EQ(ops.start, (std::vector<TimeNs>{100, 200, 300}));
  EXPECT_EQ(ops.end, (std::vector<TimeNs>{150, 205, 301}));
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
  EXPECT_EQ(rank.nvtx.end, (std::vector<TimeNs>{kOpen, 50}));
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

TEST_F(ReadRunDbTest, WhatThePythonSideRecorded) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddKernel({.start_ns = 0, .dur_ns = 1});
  const std::uint32_t plain = file.AddDataLoader({.batch_size = 8});
  const std::uint32_t parallel = file.AddDataLoader(
      {.workers = 4, .pin_memory = true, .persistent_workers = true, .prefetch_factor = 3});
  file.AddDataWait({.start_ns = 500, .dur_ns = 40, .tid = 2, .loader = parallel, .batch = 7});
  file.AddDataWait({.start_ns = 100, .dur_ns = 20, .tid = 1, .loader = plain});
  file.AddDataWait({.start_ns = 300, .dur_ns = 10, .tid = 1});
  file.AddStepMark({.time_ns = 900, .tid = 2, .optimizer = 1});
  file.AddStepMark({.time_ns = 400, .tid = 1, .optimizer = 2});
  file.AddHostSpan(
      {.start_ns = 950, .dur_ns = 60, .kind = HostSpanKind::kGarbageCollection, .detail = 2});
  file.AddHostSpan({.start_ns = 600, .dur_ns = 5, .tid = 1});
  file.AddHostSpan({.start_ns = 700, .dur_ns = 5, .kind = HostSpanKind::kGpuWait, .detail = 5});
  file.Close();

  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_TRUE(read.notes.empty());
  const Rank& rank = read.ranks[0];
  ASSERT_EQ(rank.loaders.size(), 2U);
  EXPECT_EQ(rank.loaders[0].workers, 0);
  EXPECT_FALSE(rank.loaders[0].pin_memory);
  EXPECT_EQ(rank.loaders[0].prefetch_factor, std::nullopt);
  EXPECT_EQ(rank.loaders[0].batch_size, 8);
  EXPECT_EQ(rank.loaders[1].workers, 4);
  EXPECT_TRUE(rank.loaders[1].pin_memory);
  EXPECT_TRUE(rank.loaders[1].persistent_workers);
  EXPECT_EQ(rank.loaders[1].prefetch_factor, 3);
  EXPECT_EQ(rank.loaders[1].batch_size, std::nullopt);

  const auto tid = [&](std::uint32_t thread) { return rank.threads[thread].tid; };
  const DataWaits& waits = rank.data_waits;
  EXPECT_EQ(waits.start, (std::vector<TimeNs>{100, 300, 500}));
  EXPECT_EQ(waits.end, (std::vector<TimeNs>{120, 310, 540}));
  EXPECT_EQ(waits.loader, (std::vector<std::uint32_t>{0, kNone, 1}));
  EXPECT_EQ(waits.batch, (std::vector<std::int64_t>{-1, -1, 7}));
  EXPECT_EQ(tid(waits.thread[0]), 1);
  EXPECT_EQ(tid(waits.thread[2]), 2);
  const StepMarks& marks = rank.step_marks;
  EXPECT_EQ(marks.time, (std::vector<TimeNs>{400, 900}));
  EXPECT_EQ(marks.optimizer, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(tid(marks.thread[0]), 1);
  const HostSpans& spans = rank.host_spans;
  EXPECT_EQ(spans.start, (std::vector<TimeNs>{600, 700, 950}));
  EXPECT_EQ(spans.end, (std::vector<TimeNs>{605, 705, 1010}));
  EXPECT_EQ(spans.kind,
            (std::vector<HostSpanKind>{HostSpanKind::kCheckpoint, HostSpanKind::kGpuWait,
                                       HostSpanKind::kGarbageCollection}));
  EXPECT_EQ(spans.detail, (std::vector<std::int32_t>{-1, 5, 2}));
  EXPECT_EQ(tid(spans.thread[0]), 1);
  EXPECT_EQ(rank.end, 1010) << "the last thing seen";
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
  EXPECT_EQ(read.notes.size(), 3U);
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

TEST_F(ReadRunDbTest, MatrixProducts) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddGemm({.start_ns = 500, .dur_ns = 20, .m = 8, .n = 9, .k = 10, .batch = 3, .trans_b = 1});
  file.AddGemm({.start_ns = 100,
                .dur_ns = 900,
                .function = "cublasSgemm_v2",
                .m = 1,
                .n = 2,
                .k = 3,
                .type_a = 0,
                .type_b = 0,
                .type_c = std::nullopt,
                .compute_type = std::nullopt,
                .tid = 1});
  file.Execute("INSERT INTO gemm VALUES (1, 2, 99, 1)");
  file.Execute("INSERT INTO gemm VALUES (1, 2, 1, 99)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(read.notes.size(), 2U);
  ASSERT_EQ(rank.gemms.start, (std::vector<TimeNs>{100, 500})) << "by start";
  EXPECT_EQ(rank.gemms.end, (std::vector<TimeNs>{1000, 520}));
  EXPECT_EQ(rank.threads[rank.gemms.thread[0]].tid, 1);
  const GemmShape& first = rank.gemm_shapes[rank.gemms.shape[0]];
  EXPECT_EQ(rank.string(first.function), "cublasSgemm_v2");
  EXPECT_EQ(first.type_c, -1);
  EXPECT_EQ(first.compute_type, -1);
  const GemmShape& second = rank.gemm_shapes[rank.gemms.shape[1]];
  EXPECT_EQ(second.m, 8);
  EXPECT_EQ(second.n, 9);
  EXPECT_EQ(second.k, 10);
  EXPECT_EQ(second.batch, 3);
  EXPECT_FALSE(second.trans_a);
  EXPECT_TRUE(second.trans_b);
  EXPECT_EQ(second.type_a, 14);
  EXPECT_EQ(second.compute_type, 68);
  EXPECT_EQ(rank.end, 1000) << "the last thing seen";
}

TEST_F(ReadRunDbTest, AttentionCalls) {
  RunDbFixture file(path_, {.end_ns = std::nullopt});
  file.AddAttention({.start_ns = 500, .dur_ns = std::nullopt, .direction = 2});
  file.AddAttention({.start_ns = 100,
                     .dur_ns = 900,
                     .gradient = std::nullopt,
                     .batch = std::nullopt,
                     .heads = 16,
                     .kv_heads = 4,
                     .query_length = std::nullopt,
                     .key_length = -9,
                     .head_size = 96,
                     .value_head_size = 48,
                     .type = std::nullopt,
                     .causal = 1,
                     .tid = 1});
  file.Execute("INSERT INTO attention VALUES (1, 2, 99, 1, 1, 1)");
  file.Execute("INSERT INTO attention VALUES (1, 2, 1, 99, 1, 1)");
  file.Execute("INSERT INTO attention VALUES (1, 2, 1, 1, 3, 1)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(read.notes.size(), 3U);
  const Attentions& attentions = rank.attentions;
  ASSERT_EQ(attentions.start, (std::vector<TimeNs>{100, 500})) << "by start";
  EXPECT_EQ(attentions.end, (std::vector<TimeNs>{1000, kOpen}));
  EXPECT_EQ(rank.threads[attentions.thread[0]].tid, 1);
  EXPECT_EQ(attentions.backward, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(attentions.gradient, (std::vector<std::int8_t>{-1, 1}));
  const AttentionShape& first = rank.attention_shapes[attentions.shape[0]];
  EXPECT_EQ(first.library, 1);
  EXPECT_EQ(first.batch, -1);
  EXPECT_EQ(first.heads, 16);
  EXPECT_EQ(first.kv_heads, 4);
  EXPECT_EQ(first.query_length, -1);
  EXPECT_EQ(first.key_length, -1);
  EXPECT_EQ(first.head_size, 96);
  EXPECT_EQ(first.value_head_size, 48);
  EXPECT_EQ(first.type, -1);
  EXPECT_EQ(first.causal, 1);
  EXPECT_EQ(rank.end, 1000) << "the last thing seen";
}

TEST_F(ReadRunDbTest, SamplesOfBatches) {
  RunDbFixture file(path_);
  file.AddDataWait({.start_ns = 10, .dur_ns = 1, .batch = 0, .samples = 32});
  file.AddDataWait({.start_ns = 20, .dur_ns = 1, .batch = 1});
  file.Close();
  EXPECT_EQ(Read().ranks[0].data_waits.samples, (std::vector<std::int64_t>{32, -1}));
}

// Version 2 had no such tables.
TEST_F(ReadRunDbTest, VersionTwoHasNoMatrixProducts) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.AddDataWait({.start_ns = 10, .dur_ns = 1, .batch = 0});
  file.Execute("COMMIT; PRAGMA user_version = 2; DROP TABLE gemm; DROP TABLE gemm_shape");
  file.Execute("DROP TABLE nccl_setup; DROP TABLE nccl_link");
  file.Execute("DROP TABLE attention; DROP TABLE attention_shape; DROP TABLE data_wait");
  file.Execute("CREATE TABLE data_wait (start, dur, thread, loader, batch)");
  file.Execute("INSERT INTO data_wait VALUES (10, 1, 1, NULL, 0); BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].schema_version, 2);
  EXPECT_EQ(read.ranks[0].gemms.size(), 0U);
  EXPECT_EQ(read.ranks[0].attentions.size(), 0U);
  EXPECT_EQ(read.ranks[0].data_waits.samples, (std::vector<std::int64_t>{-1}));
}

TEST_F(ReadRunDbTest, PythonRowsThatCannotBeRight) {
  RunDbFixture file(path_);
  file.AddDataWait({.start_ns = 1, .dur_ns = 2, .loader = 9});
  file.Execute("INSERT INTO data_wait VALUES (1, 2, 99, NULL, 0, NULL)");
  file.Execute("INSERT INTO data_wait VALUES (5, 2, 1, NULL, -7, -7)");
  file.Execute("INSERT INTO step_mark VALUES (1, 99, 1)");
  file.Execute("INSERT INTO step_mark VALUES (9223372036854775807, 1, 1)");
  file.Execute("INSERT INTO host_span VALUES (1, -2, 1, 1, NULL)");
  file.Execute("INSERT INTO host_span VALUES (1, 2, 1, 4, NULL)");
  file.Execute("INSERT INTO data_loader VALUES (5, 99, 0, 0, 0, NULL, NULL)");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks[0];
  EXPECT_EQ(rank.data_waits.loader, (std::vector<std::uint32_t>{kNone, kNone}));
  EXPECT_EQ(rank.data_waits.batch, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(rank.step_marks.size(), 0U);
  EXPECT_EQ(rank.host_spans.end, (std::vector<TimeNs>{1}));
  EXPECT_EQ(rank.loaders.size(), 0U);
  EXPECT_EQ(read.notes.size(), 7U);
}

// Version 1 had no such tables.
TEST_F(ReadRunDbTest, VersionOneHasNoPythonSide) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.Execute("COMMIT; PRAGMA user_version = 1; DROP TABLE data_loader; DROP TABLE data_wait");
  file.Execute("DROP TABLE step_mark; DROP TABLE host_span; DROP TABLE collective_plan; BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].schema_version, 1);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 1U);
  EXPECT_EQ(read.ranks[0].data_waits.size(), 0U);
}

TEST_F(ReadRunDbTest, HowNcclConnectsRanks) {
  RunDbFixture file(path_);
  file.AddCommunicator({.hash = 7, .size = 2, .rank = 0});
  file.Execute(
      "INSERT INTO string VALUES (901, 'Socket'), (902, 'NET'), (903, 'GDRDMA'), (904, 'P2P')");
  file.Execute(
      "INSERT INTO nccl_setup VALUES (1, 1, NULL, 0, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL, "
      "NULL, 0), (2, 1, 1, 3, 8, 0, 2, 901, 24, 25, 26, 27, 28, 29, 1)");
  file.Execute(
      "INSERT INTO nccl_link VALUES (1, 1, 2, 3, 4, 1, 902, 903, 901, 5, 1, 6, 24), (2, 1, NULL, "
      "0, "
      "NULL, 0, 904, NULL, NULL, NULL, NULL, NULL, 2)");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_TRUE(read.notes.empty());
  const std::vector<NcclSetup>& setups = read.ranks.at(0).nccl_setups;
  ASSERT_EQ(setups.size(), 2u);
  EXPECT_EQ(setups[0].communicator, kNone);
  EXPECT_EQ(setups[0].device, 1);
  EXPECT_EQ(setups[0].nodes, std::nullopt);
  EXPECT_EQ(setups[0].network, "");
  EXPECT_FALSE(setups[0].nvls);
  EXPECT_EQ(setups[1].communicator, 0u);
  EXPECT_EQ(setups[1].rank, 3);
  EXPECT_EQ(setups[1].size, 8);
  EXPECT_EQ(setups[1].nodes, 2);
  EXPECT_EQ(setups[1].network, "Socket");
  EXPECT_EQ(setups[1].rings, 24);
  EXPECT_EQ(setups[1].trees, 25);
  EXPECT_EQ(setups[1].channels, 26);
  EXPECT_EQ(setups[1].nvls_channels, 27);
  EXPECT_EQ(setups[1].p2p_channels, 28);
  EXPECT_TRUE(setups[1].nvls);
  const std::vector<NcclLink>& links = read.ranks[0].nccl_links;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].setup, 1u);
  EXPECT_EQ(links[0].rank, 3);
  EXPECT_EQ(links[0].peer, 4);
  EXPECT_TRUE(links[0].sends);
  EXPECT_EQ(links[0].transport, "NET");
  EXPECT_EQ(links[0].detail, "GDRDMA");
  EXPECT_EQ(links[0].network, "Socket");
  EXPECT_EQ(links[0].net_device, 5);
  EXPECT_EQ(links[0].gdrdma, true);
  EXPECT_EQ(links[0].channels, 24);
  EXPECT_EQ(links[1].setup, kNone);
  EXPECT_EQ(links[1].peer, std::nullopt);
  EXPECT_FALSE(links[1].sends);
  EXPECT_EQ(links[1].gdrdma, std::nullopt);
}

TEST_F(ReadRunDbTest, ConnectionsOfWhatIsNotThere) {
  RunDbFixture file(path_);
  file.Execute(
      "INSERT INTO nccl_setup VALUES (1, 1, 77, 0, 2, 1, NULL, 99, NULL, NULL, NULL, NULL, NULL, "
      "NULL, 0), (2, 5, NULL, 0, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0)");
  file.Execute(
      "INSERT INTO nccl_link VALUES (1, 1, 9, 0, 1, 1, 99, NULL, NULL, NULL, NULL, NULL, 2), "
      "(2, 5, NULL, 0, 1, 1, 99, NULL, NULL, NULL, NULL, NULL, 2)");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.notes.size(), 4u);
  ASSERT_EQ(read.ranks.at(0).nccl_setups.size(), 1u);
  EXPECT_EQ(read.ranks[0].nccl_setups[0].communicator, kNone);
  ASSERT_EQ(read.ranks[0].nccl_links.size(), 1u);
  EXPECT_EQ(read.ranks[0].nccl_links[0].setup, kNone);
  EXPECT_EQ(read.ranks[0].nccl_links[0].transport, "");
}

// How operations were carried out came with version 3.
TEST_F(ReadRunDbTest, PlansAreReadWithTheirLaunches) {
  RunDbFixture file(path_);
  const std::uint32_t group = file.AddCommunicator({.size = 8, .nodes = 2, .name = "dp"});
  // Out of order: the second one came first.
  const std::int64_t late = file.AddCollective({.start_ns = 500, .dur_ns = 100});
  const std::int64_t early =
      file.AddCollective({.start_ns = 100, .dur_ns = 100, .communicator = group});
  file.AddApi({.start_ns = 520, .dur_ns = 5});
  file.AddApi({.start_ns = 120, .dur_ns = 5});
  file.AddApi({.start_ns = 140, .dur_ns = 5});
  file.AddPlan({.collective = late,
                .time_ns = 540,
                .sequence = std::nullopt,
                .datatype = "",
                .algorithm = "",
                .protocol = "",
                .channels = std::nullopt,
                .warps = std::nullopt});
  file.AddPlan({.collective = early, .time_ns = 160, .launch_start_ns = 135, .launch_dur_ns = 20});
  file.AddPlan({.collective = early,
                .time_ns = 150,
                .sequence = 4,
                .count = 77,
                .launch_start_ns = 110,
                .launch_dur_ns = 20});
  file.AddPlan({.collective = early, .time_ns = 170, .launch_start_ns = 170, .launch_dur_ns = 1});
  file.AddPlan({.collective = 99, .time_ns = 1});
  file.Close();

  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  EXPECT_EQ(rank.communicators.at(0).name, "dp");
  EXPECT_EQ(rank.communicators.at(0).nodes, 2);
  EXPECT_EQ(rank.collectives.start, (std::vector<TimeNs>{100, 500}));
  EXPECT_EQ(rank.collectives.plan, (std::vector<std::uint32_t>{0, 3}));
  const CollectivePlans& plans = rank.plans;
  EXPECT_EQ(plans.collective, (std::vector<std::uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(plans.time, (std::vector<TimeNs>{150, 160, 170, 540}));
  EXPECT_EQ(plans.launch, (std::vector<std::uint32_t>{0, 1, kNone, 2}));
  EXPECT_EQ(plans.sequence, (std::vector<std::int64_t>{4, 0, 0, -1}));
  EXPECT_EQ(plans.count[0], 77);
  EXPECT_EQ(rank.string(plans.algorithm[0]), "RING");
  EXPECT_EQ(plans.algorithm[3], kNone);
  EXPECT_EQ(plans.channels, (std::vector<std::int32_t>{24, 24, 24, -1}));
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_NE(read.notes[0].find("collective_plan"), std::string::npos);
}

TEST_F(ReadRunDbTest, VersionThreeWithoutItsTableIsDamaged) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE collective_plan");
  file.Close();
  const auto read = TryRead();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("collective_plan"), std::string::npos);
}

TEST_F(ReadRunDbTest, VersionTwoWithoutItsTablesIsDamaged) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE step_mark");
  file.Close();
  const auto read = TryRead();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("step_mark"), std::string::npos);
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
  EXPECT_EQ(devices[0].ops.start, std::vector<TimeNs>{1});
  EXPECT_EQ(devices[1].ordinal, 3);
  EXPECT_EQ(devices[1].name, "");
  EXPECT_EQ(devices[1].ops.start, std::vector<TimeNs>{5});
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

TEST_F(ReadRunDbTest, SeveralProcessesInOneFile) {
  RunDbFixture file(path_, {.rank = 0});
  file.AddKernel({.start_ns = 1, .dur_ns = 1, .name = "gemm"});
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start) VALUES (2, 5, 'b', 1, 'job-1', "
      "0);"
      "INSERT INTO stream(id, proc, device, context, stream_id) VALUES (50, 2, 4, 1, 7); INSERT "
      "INTO kernel VALUES (9, 1, 50, 1, 0, "
      "NULL);");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 2u);
  for (const Rank& rank : read.ranks) {
    const auto with_ops = std::find_if(rank.devices.begin(), rank.devices.end(),
                                       [](const Device& d) { return d.ops.size() > 0; });
    ASSERT_NE(with_ops, rank.devices.end());
    EXPECT_EQ(with_ops->ordinal, rank.rank == 0 ? 0 : 4);
    EXPECT_EQ(rank.string(rank.shapes[with_ops->ops.detail[0]].name), "gemm");
  }
}

// As analyze merge writes them.
TEST_F(ReadRunDbTest, ProcessesOfAMergedFileKeepWhatIsTheirOwn) {
  RunDbFixture file(path_, {.rank = 0, .end_ns = 1'000});
  file.AddGap(10, 5, "window");
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start, tool_version, closed, "
      "clock_shift, clock_drift) VALUES (2, 5, 'b', 1, 'job-1', 0, '0.0.9', 0, -70, 1e-6);"
      "INSERT INTO capture_gap VALUES (20, 7, 2, 'window'), (30, 1, 3, 'window');"
      "INSERT INTO clock_pair VALUES (1, 100, 1, 1, 1, NULL), (2, 200, 2, 2, 2, NULL);");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 2U);
  const Rank &first = read.ranks[0], &second = read.ranks[1];
  EXPECT_EQ(first.tool_version, "0.1.0");
  EXPECT_TRUE(first.closed);
  EXPECT_EQ(first.clock_shift, 0);
  EXPECT_EQ(second.tool_version, "0.0.9");
  EXPECT_FALSE(second.closed);
  EXPECT_EQ(second.clock_shift, -70);
  EXPECT_EQ(second.clock_drift, 1e-6);
  ASSERT_EQ(first.gaps.size(), 1U);
  EXPECT_EQ(first.gaps[0].start, 10);
  ASSERT_EQ(second.gaps.size(), 1U);
  EXPECT_EQ(second.gaps[0].start, 20);
  EXPECT_EQ(first.clocks.realtime, (std::vector<TimeNs>{100}));
  EXPECT_EQ(second.clocks.realtime, (std::vector<TimeNs>{200}));
  ASSERT_EQ(read.notes.size(), 1U) << "a gap of no process";
}

// The first rows of a table would be of the first process only.
TEST_F(ReadRunDbTest, OfSeveralProcessesAllIsRead) {
  RunDbFixture file(path_, {.rank = 0});
  for (int i = 0; i < 100; ++i) file.AddKernel({.start_ns = i, .dur_ns = 1});
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start) VALUES (2, 5, 'b', 1, 'job-1', "
      "0)");
  file.Close();
  const RecordedFile read = Read(10);
  ASSERT_EQ(read.ranks.size(), 2U);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 100U);
  EXPECT_EQ(read.ranks[0].read_until, kOpen);
}

TEST_F(ReadRunDbTest, LeavesOutWhatCannotBeRightAndSaysSo) {
  RunDbFixture file(path_);
  const auto call = file.AddApi({.start_ns = 0, .dur_ns = 1});
  file.AddKernel({.start_ns = 10, .dur_ns = 5, .correlation = call});
  file.AddNvtx({});
  file.AddCollective({.bytes = 8});
  file.Execute(
      "INSERT INTO kernel VALUES (1, 1, 99, 1, 0, NULL), (1, 1, -1, 1, 0, NULL), (1, 1, 1, "
      "9223372036854775807, 0, NULL),"
      "  (9223372036854775807, 9223372036854775807, 1, 1, 0, NULL), (-9223372036854775808, 1, 1, "
      "1, 0, NULL),"
      "  (20, -7, 1, 1, -1, 12345), ('text', x'00', 'a', 'b', 'c', 'd');"
      "INSERT INTO api VALUES (1, 1, 77, 1, 1, 0), (1, 1, 1, 77, 1, 0);"
      "INSERT INTO nvtx VALUES (1, 1, 1, 9, 1, 1, NULL, NULL, NULL), (1, 1, 1, 1, 9, 1, NULL, "
      "NULL, NULL),"
      "  (1, 1, 1, 1, 1, 4444, -5, NULL, NULL);"
      "INSERT INTO collective VALUES (101, 1, 1, 1, 999, NULL, 1, NULL, NULL, NULL), (102, 1, 1, "
      "1, "
      "1, 999, -5, NULL, NULL, NULL);"
      "INSERT INTO collective_plan VALUES (-9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 1, 99, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 9223372036854775807, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -9223372036854775807),"
      "  (102, 1, 1, 'x', -5, 999, 999, 999, 'y', -8, -1, NULL);"
      "INSERT INTO sync VALUES (1, 1, 1, 99, 1, 1), (1, 1, 1, 1, -4, 99);"
      "INSERT INTO stream(id, proc, device, context, stream_id) VALUES (8, 1, -3, 0, 0), (9, 44, "
      "0, 0, 0);"
      "INSERT INTO kernel_shape VALUES (700000000000, 31337, 0,0,0,0,0,0, 9999999999,0,0, 0,0,0,0);"
      "INSERT INTO kernel VALUES (30, 1, 1, 700000000000, 0, NULL);"
      "INSERT INTO device VALUES (1, 1000000, 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL, NULL);"
      "INSERT INTO health VALUES (9, 'a', 'b', 1, NULL);");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  const GpuOps& ops = rank.devices.at(0).ops;
  EXPECT_EQ(ops.start, (std::vector<TimeNs>{10, 20, 30}));
  EXPECT_EQ(ops.end, (std::vector<TimeNs>{15, 20, 31}));
  EXPECT_EQ(ops.graph_node[1], kNone);
  EXPECT_EQ(rank.api.size(), 1u);
  EXPECT_EQ(rank.nvtx.size(), 2u);
  EXPECT_EQ(rank.nvtx.text[1], kNone);
  EXPECT_EQ(rank.collectives.size(), 2u);
  EXPECT_EQ(rank.collectives.bytes, (std::vector<std::int64_t>{8, 0}));
  EXPECT_EQ(rank.plans.size(), 1u);
  EXPECT_EQ(rank.plans.count, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(rank.syncs.size(), 1u);
  EXPECT_EQ(rank.devices.size(), 1u);
  std::string notes;
  for (const std::string& note : read.notes) notes += note + "\n";
  for (const char* part :
       {"2 rows of the table 'kernel' left out: no row for the stream",
        "'kernel' left out: start or duration", "1 row of the table 'kernel' repaired",
        "'api' left out: no row for the thread", "'nvtx' left out: unknown kind",
        "'collective' treated as of an unknown communicator", "'stream' left out",
        "'collective_plan' left out: no row for the operation"}) {
    EXPECT_NE(notes.find(part), std::string::npos) << part << "\nin\n" << notes;
  }
}

TEST_F(ReadRunDbTest, MissingTablesAndColumnsAreSentences) {
  const auto error_after = [&](const std::string& sql) {
    RunDbFixture file(path_);
    file.Execute(sql);
    file.Close();
    const auto read = TryRead();
    return read.ok() ? std::string("read") : read.error();
  };
  for (const char* table : {"meta", "process", "kernel", "api", "health", "string"}) {
    const std::string error = error_after(std::string("DROP TABLE ") + table);
    EXPECT_NE(error.find(std::string("'") + table + "'"), std::string::npos) << error;
    EXPECT_TRUE(error.starts_with(path_)) << error;
  }
  const std::string endless = error_after(
      "ALTER TABLE api RENAME TO x; CREATE VIEW api AS WITH RECURSIVE n(start) AS (SELECT 1 UNION "
      "ALL "
      "SELECT 1 FROM n) SELECT start, 1 AS dur, 1 AS thread, 1 AS name, 1 AS correlation, 0 AS "
      "result FROM n");
  EXPECT_NE(endless.find("the table 'api' of a recording is missing"), std::string::npos)
      << endless;
  const std::string column = error_after("ALTER TABLE kernel DROP COLUMN shape");
  EXPECT_NE(column.find("no such column: shape"), std::string::npos) << column;
  EXPECT_NE(error_after("DELETE FROM meta").find("base_ns"), std::string::npos);
  EXPECT_NE(error_after("UPDATE meta SET value = -1").find("base_ns"), std::string::npos);
  EXPECT_NE(error_after("DELETE FROM process").find("no process"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
