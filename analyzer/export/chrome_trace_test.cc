// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chrome_trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "analyzer/export/found_steps.h"
#include "analyzer/export/testing/sample_recording.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// As torch.profiler's own traces are read.
class ChromeTraceTest : public testing::Test {
 protected:
  traceinject::Run ThereAndBack(const traceinject::Run& run, std::size_t rank,
                                const std::string& name = "trace.json") {
    path_ = folder_ / name;
    auto file = OutputFile::Create(path_, name.ends_with(".gz") ? Packing::kGzip : Packing::kPlain);
    EXPECT_TRUE(file.ok());
    WriteChromeTrace(run, rank, file.value());
    EXPECT_TRUE(file.value().Close().ok());
    return LoadSample(path_);
  }
  traceinject::Run Sample(const RunDbFixture::Options& options = {.rank = 0, .end_ns = 60'000}) {
    WriteSampleRecording(folder_ / "run.db", options);
    return LoadSample(folder_ / "run.db");
  }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
  std::string path_;
};

// Times are those of the clock: the two have other bases.
using Operation =
    std::tuple<std::int64_t, std::int64_t, std::string, std::uint64_t, int, std::uint32_t>;
std::multiset<Operation> OperationsOf(const traceinject::Run& run, const Rank& rank) {
  std::multiset<Operation> operations;
  for (const Device& device : rank.devices) {
    const GpuOps& ops = device.ops;
    for (std::size_t row = 0; row < ops.size(); ++row) {
      const bool is_kernel = ops.kind[row] == OpKind::kKernel;
      operations.emplace(run.base_ns + ops.start[row], run.base_ns + ops.end[row],
                         is_kernel ? std::string(rank.string(rank.shapes[ops.detail[row]].name))
                                   : std::to_string(rank.transfers[ops.detail[row]].bytes),
                         ops.correlation[row], device.ordinal,
                         rank.streams[ops.stream[row]].stream_id);
    }
  }
  return operations;
}

using Call = std::tuple<std::int64_t, std::int64_t, std::string, std::uint64_t, std::int64_t>;
std::multiset<Call> CallsOf(const traceinject::Run& run, const Rank& rank) {
  std::multiset<Call> calls;
  for (std::size_t row = 0; row < rank.api.size(); ++row)
    calls.emplace(run.base_ns + rank.api.start[row], run.base_ns + rank.api.end[row],
                  rank.api_names[rank.api.name[row]].name, rank.api.correlation[row],
                  rank.threads[rank.api.thread[row]].tid);
  return calls;
}

void ExpectSame(const traceinject::Run& before, const Rank& rank, const traceinject::Run& after) {
  ASSERT_EQ(after.ranks.size(), 1U);
  // Nothing was left out or repaired; that other ranks are in other files is no problem.
  for (const std::string& note : after.notes) EXPECT_TRUE(note.starts_with("the job has")) << note;
  const Rank& read = after.ranks[0];
  EXPECT_EQ(OperationsOf(after, read), OperationsOf(before, rank));
  EXPECT_EQ(CallsOf(after, read), CallsOf(before, rank));
  EXPECT_EQ(after.base_ns + read.start, before.base_ns + rank.start);
  EXPECT_EQ(after.base_ns + read.end, before.base_ns + rank.end);
  EXPECT_EQ(read.rank, rank.rank);
  EXPECT_EQ(read.process.world_size, rank.process.world_size);
  EXPECT_EQ(read.data_waits.size(), rank.data_waits.size());
  // Steps that the trace tells of take the place of the marks that they were found by.
  const bool has_steps = !FindStepsOfDevices(rank).empty();
  EXPECT_EQ(read.step_marks.size(), has_steps ? 0 : rank.step_marks.size());
}

TEST_F(ChromeTraceTest, OurOwnReaderOfKinetoTracesTakesItBack) {
  const traceinject::Run run = Sample({.rank = 3, .world_size = 8, .end_ns = 60'000});
  for (const char* name : {"trace.json", "trace.json.gz"}) {
    const traceinject::Run after = ThereAndBack(run, 0, name);
    ExpectSame(run, run.ranks[0], after);
    EXPECT_EQ(after.ranks[0].loaders.size(), 0U) << "of a loader with workers it tells no more";
  }
}

TEST_F(ChromeTraceTest, RecordingsOfTrainingComeBackAsTheyAre) {
  for (const char* name : {"transformer_h200.db.zst", "ddp_h200"}) {
    const traceinject::Run run = LoadSample(std::string(TRACEINJECT_RECORDINGS) + "/" + name);
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
      SCOPED_TRACE(name);
      ExpectSame(run, run.ranks[rank], ThereAndBack(run, rank));
    }
  }
}

TEST_F(ChromeTraceTest, ShapesAndCollectivesComeBack) {
  const traceinject::Run run = Sample();
  const traceinject::Run after = ThereAndBack(run, 0);
  const Rank& rank = after.ranks[0];
  std::map<std::string, const KernelShape*> shapes;
  for (const KernelShape& shape : rank.shapes)
    shapes[std::string(rank.string(shape.name))] = &shape;
  const KernelShape& second = *shapes.at("second(float*)");
  EXPECT_EQ(second.grid[0], 4);
  EXPECT_EQ(second.grid[2], 2);
  EXPECT_EQ(second.block[1], 2);
  ASSERT_EQ(rank.collectives.size(), 1U);
  EXPECT_EQ(rank.string(rank.collectives.function[0]), "AllReduce");
  EXPECT_EQ(rank.collectives.bytes[0], 4'096);
  EXPECT_EQ(rank.communicators.at(rank.collectives.communicator[0]).size, 2);
  const GpuOps& ops = rank.devices[0].ops;
  std::size_t graph_nodes = 0;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    graph_nodes += ops.graph_node[row] != kNone ? 1 : 0;
    if (ops.kind[row] == OpKind::kMemcpy) {
      const Transfer& copy = rank.transfers[ops.detail[row]];
      EXPECT_EQ(std::tuple(copy.kind, copy.src_kind, copy.dst_kind), std::tuple(1, 2, 3));
      EXPECT_TRUE(copy.async);
    }
  }
  EXPECT_EQ(graph_nodes, 3U);
}

TEST_F(ChromeTraceTest, TimesAreNeverNegativeThoughTheRecordingBeganLater) {
  const traceinject::Run run = Sample({.start_ns = 40'000, .end_ns = 60'000});
  const traceinject::Run after = ThereAndBack(run, 0);
  EXPECT_EQ(Text().find("\"ts\": -"), std::string::npos);
  EXPECT_EQ(OperationsOf(after, after.ranks[0]), OperationsOf(run, run.ranks[0]));
}

TEST_F(ChromeTraceTest, ArrowsAreThoseOfKineto) {
  ThereAndBack(Sample(), 0);
  const std::string text = Text();
  EXPECT_NE(text.find("{\"ph\": \"s\", \"id\": 1, \"pid\": 4242, \"tid\": 4242, \"ts\": 1.000, "
                      "\"cat\": \"ac2g\", \"name\": \"ac2g\"}"),
            std::string::npos);
  EXPECT_NE(text.find("{\"ph\": \"f\", \"id\": 1, \"pid\": 0, \"tid\": 7, \"ts\": 10.001, "
                      "\"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"}"),
            std::string::npos);
}

}  // namespace
}  // namespace traceinject
