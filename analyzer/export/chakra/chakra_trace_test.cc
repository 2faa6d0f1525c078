// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/chakra_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "analyzer/export/testing/chakra_reader.h"
#include "analyzer/export/testing/sample_recording.h"
#include "analyzer/metrics/links/collectives.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

using Vertex = public_chakra::Vertex;

// NodeType.
enum : int { kMemLoad = 2, kMemStore = 3, kComp = 4, kSend = 5, kRecv = 6, kCollective = 7 };

std::int64_t Start(const Vertex& node) { return *ReadChakra::Number(node, "start_ns"); }
std::int64_t Length(const Vertex& node) { return *ReadChakra::Number(node, "duration_ns"); }
bool OnHost(const Vertex& node) { return ReadChakra::Number(node, "is_cpu_op") == 1; }

// Ids count up, and what a node depends on has ended, so that nothing goes in a circle.
void ExpectInOrder(const ReadChakra& trace) {
  for (std::size_t at = 0; at < trace.nodes.size(); ++at) {
    const Vertex& node = trace.nodes[at];
    ASSERT_EQ(node.id(), at);
    for (const std::uint64_t other : node.data_deps()) {
      ASSERT_LT(other, at);
      ASSERT_LE(Start(trace.nodes[other]) + Length(trace.nodes[other]), Start(node));
    }
    ASSERT_LT(std::abs(static_cast<std::int64_t>(1'000 * node.duration_micros()) - Length(node)),
              1'000);
    ASSERT_EQ(node.start_time_micros(), static_cast<std::uint64_t>(Start(node) / 1'000));
  }
}

class ChakraTraceTest : public testing::Test {
 protected:
  ReadChakra Write(const traceinject::Run& run, std::size_t rank = 0) {
    const std::string path = folder_ / "trace.0.et";
    auto file = OutputFile::Create(path);
    EXPECT_TRUE(file.ok());
    const Intervals all{{std::numeric_limits<TimeNs>::min(), kOpen}};
    const std::vector<Intervals> chosen(run.ranks[rank].devices.size(), all);
    counts_ = WriteChakraTrace(run, rank, CommGroups(run), chosen, file.value());
    EXPECT_TRUE(file.value().Close().ok());
    ReadChakra trace = ReadChakraFile(path);
    EXPECT_EQ(trace.nodes.size(), counts_.nodes);
    ExpectInOrder(trace);
    return trace;
  }
  // Of a recording that `fill` makes.
  template <typename Fill>
  ReadChakra WriteOf(Fill fill) {
    RunDbFixture file(folder_ / "run.db", {.rank = 0, .end_ns = 100'000});
    file.AddDevice({});
    fill(file);
    file.Close();
    return Write(LoadSample(folder_ / "run.db"));
  }
  // Names of what a node depends on.
  static std::multiset<std::string> After(const ReadChakra& trace, const Vertex& node) {
    std::multiset<std::string> names;
    for (const std::uint64_t other : node.data_deps()) names.insert(trace.nodes[other].name());
    return names;
  }

  TemporaryFolder folder_;
  ChakraCounts counts_;
};

TEST_F(ChakraTraceTest, ASampleOfEverything) {
  WriteSampleRecording(folder_ / "run.db", {.rank = 3, .world_size = 8, .end_ns = 60'000});
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  const ReadChakra trace = Write(run);
  EXPECT_EQ(trace.head.version(), "1.0.0");
  const auto of_type = [&](int type) {
    return std::count_if(trace.nodes.begin(), trace.nodes.end(),
                         [&](const Vertex& node) { return node.type() == type && !OnHost(node); });
  };
  EXPECT_EQ(of_type(kMemLoad), 1);
  EXPECT_EQ(of_type(kCollective), 1);
  EXPECT_EQ(of_type(kMemLoad) + of_type(kCollective) + of_type(kComp),
            static_cast<std::ptrdiff_t>(run.ranks[0].devices[0].ops.size()));
  const Vertex& copy = *std::find_if(trace.nodes.begin(), trace.nodes.end(),
                                     [](const Vertex& node) { return node.type() == kMemLoad; });
  EXPECT_EQ(ReadChakra::Number(copy, "tensor_size"), 3'000);
  const Vertex& reduce = trace.Named("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(ReadChakra::Number(reduce, "comm_type"), 0);
  EXPECT_EQ(ReadChakra::Number(reduce, "comm_size"), 4'096);
  EXPECT_EQ(ReadChakra::Text(reduce, "pg_name"), "1");
  EXPECT_EQ(counts_.without_launch, 1U) << "the memset";
  // 2 m n k of the GEMM that the first kernel was launched in.
  EXPECT_EQ(ReadChakra::Number(trace.Named("first \"quoted\" \\ <k>"), "num_ops"), std::nullopt)
      << "not by its name";
}

TEST_F(ChakraTraceTest, OperationsFollowTheirStreamAndTheirLaunch) {
  const ReadChakra trace = WriteOf([](RunDbFixture& file) {
    file.AddLaunchedKernel({.start_ns = 10'000, .dur_ns = 5'000, .name = "a"}, 1'000, 500);
    file.AddLaunchedKernel({.start_ns = 15'500, .dur_ns = 5'000, .name = "b"}, 2'000, 500);
    file.AddLaunchedKernel({.start_ns = 16'000, .dur_ns = 9'000, .name = "c", .stream = 8}, 3'000,
                           500);
    // It began before its call returned, and while the one before it in the stream went on.
    file.AddLaunchedKernel({.start_ns = 20'000, .dur_ns = 1'000, .name = "d"}, 19'000, 4'000);
  });
  EXPECT_EQ(After(trace, trace.Named("a")), (std::multiset<std::string>{"cudaLaunchKernel"}));
  EXPECT_EQ(After(trace, trace.Named("b")), (std::multiset<std::string>{"a", "cudaLaunchKernel"}));
  EXPECT_EQ(After(trace, trace.Named("c")), (std::multiset<std::string>{"cudaLaunchKernel"}));
  EXPECT_EQ(After(trace, trace.Named("d")), (std::multiset<std::string>{"a", "cudaLaunchKernel"}));
  EXPECT_EQ(trace.Named("a").duration_micros(), 5U);
  // The thread is one chain, as long as it was.
  std::int64_t host = 0;
  for (const Vertex& node : trace.nodes) host += OnHost(node) ? Length(node) : 0;
  EXPECT_EQ(host, 20'000 - 1'000) << "until the last kernel began";
}

TEST_F(ChakraTraceTest, EventsJoinStreams) {
  const ReadChakra trace = WriteOf([](RunDbFixture& file) {
    file.AddLaunchedKernel({.start_ns = 10'000, .dur_ns = 5'000, .name = "a"}, 1'000, 100);
    file.AddSync({.start_ns = 1'200, .dur_ns = 10, .event = 5, .stream = 7});
    file.AddLaunchedKernel({.start_ns = 15'100, .dur_ns = 100, .name = "later"}, 1'300, 100);
    file.AddSync({.start_ns = 1'500,
                  .dur_ns = 10,
                  .kind = SyncKind::kStreamWaitsEvent,
                  .event = 5,
                  .stream = 8});
    file.AddLaunchedKernel({.start_ns = 16'000, .dur_ns = 100, .name = "b", .stream = 8}, 1'600,
                           100);
  });
  EXPECT_EQ(After(trace, trace.Named("b")), (std::multiset<std::string>{"a", "cudaLaunchKernel"}))
      << "not what was launched after the event";
}

TEST_F(ChakraTraceTest, CallsThatWaitDependOnWhatTheyWaitedFor) {
  const ReadChakra trace = WriteOf([](RunDbFixture& file) {
    file.AddLaunchedKernel({.start_ns = 10'000, .dur_ns = 5'000, .name = "a"}, 1'000, 100);
    file.AddApi({.start_ns = 2'000,
                 .dur_ns = 14'000,
                 .name = "cudaDeviceSynchronize",
                 .api_class = ApiClass::kSynchronize});
    file.AddApi({.start_ns = 17'000,
                 .dur_ns = 1'000,
                 .name = "cudaStreamSynchronize",
                 .api_class = ApiClass::kSynchronize});
    file.AddLaunchedKernel({.start_ns = 20'000, .dur_ns = 5'000, .name = "b"}, 19'000, 100);
    const auto copy = file.AddApi(
        {.start_ns = 20'000, .dur_ns = 10'000, .name = "cudaMemcpy", .api_class = ApiClass::kCopy});
    file.AddMemcpy({.start_ns = 26'000,
                    .dur_ns = 3'000,
                    .bytes = 64,
                    .kind = 2,
                    .async = false,
                    .correlation = copy});
    file.AddLaunchedKernel({.start_ns = 40'000, .dur_ns = 5'000, .name = "c"}, 31'000, 100);
  });
  const Vertex& device = trace.Named("cudaDeviceSynchronize");
  EXPECT_EQ(After(trace, device), (std::multiset<std::string>{"a", "host"}));
  EXPECT_EQ(Length(device), 1'000) << "from the end of the kernel on";
  const Vertex& stream = trace.Named("cudaStreamSynchronize");
  EXPECT_EQ(After(trace, stream), (std::multiset<std::string>{"host"})) << "of which is not known";
  std::vector<const Vertex*> copies;
  for (const Vertex& node : trace.nodes) {
    if (node.name() == "cudaMemcpy") copies.push_back(&node);
  }
  ASSERT_EQ(copies.size(), 2U) << "until the copy begins, and from its end on";
  EXPECT_EQ(Length(*copies[0]), 6'000);
  EXPECT_EQ(Length(*copies[1]), 1'000);
  EXPECT_EQ(After(trace, *copies[1]).size(), 2U);
}

TEST_F(ChakraTraceTest, SendsAndReceivesNameTheirPeer) {
  for (int rank = 0; rank < 2; ++rank) {
    RunDbFixture file(folder_ / ("run.rank0000" + std::to_string(rank) + ".db"),
                      {.pid = 70 + rank, .rank = rank, .world_size = 2, .end_ns = 60'000});
    file.AddDevice({});
    const auto group = file.AddCommunicator({.size = 2, .rank = 1 - rank, .device = 0});
    const auto call = [&](TimeNs start, const char* function, std::int64_t bytes, int peer) {
      file.AddCollective({.start_ns = start,
                          .dur_ns = 600,
                          .function = function,
                          .bytes = bytes,
                          .communicator = group,
                          .peer = peer});
      file.AddLaunchedKernel(
          {.start_ns = start + 5'000, .dur_ns = 500, .name = "ncclDevKernel_SendRecv"}, start + 100,
          100);
    };
    call(1'000, rank == 0 ? "Send" : "Recv", 512, rank);
    call(2'000, "AllGather", 100, -1);
    file.Close();
  }
  const traceinject::Run run = LoadSample(folder_ / "run.db");
  const ReadChakra sends = Write(run, 0), receives = Write(run, 1);
  const auto of = [](const ReadChakra& trace, int type) {
    return *std::find_if(trace.nodes.begin(), trace.nodes.end(),
                         [&](const Vertex& node) { return node.type() == type; });
  };
  const Vertex send = of(sends, kSend), receive = of(receives, kRecv);
  for (const Vertex& node : {send, receive}) {
    EXPECT_EQ(ReadChakra::Number(node, "comm_src"), 0);
    EXPECT_EQ(ReadChakra::Number(node, "comm_dst"), 1);
    EXPECT_EQ(ReadChakra::Number(node, "comm_size"), 512);
    EXPECT_EQ(ReadChakra::Number(node, "comm_tag"), 1);
  }
  const Vertex gather = of(sends, kCollective);
  EXPECT_EQ(ReadChakra::Number(gather, "comm_type"), 2);
  EXPECT_EQ(ReadChakra::Number(gather, "comm_size"), 100) << "its part";
  EXPECT_EQ(ReadChakra::Number(gather, "message_bytes"), 200) << "as reports have it";
}

TEST_F(ChakraTraceTest, RecordedTrainingHasTheSizesOfItsReport) {
  const traceinject::Run run = LoadSample(std::string(TRACEINJECT_RECORDINGS) + "/ddp_h200");
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const ReadChakra trace = Write(run, rank);
    std::int64_t bytes = 0, written = 0, operations = 0, gpu_nodes = 0, with_flops = 0;
    for (const Device& device : run.ranks[rank].devices) {
      operations += static_cast<std::int64_t>(device.ops.size());
      for (const NcclLaunch& launch : LinkNccl(run.ranks[rank], device).launches) {
        bytes += launch.bytes.value_or(0);
        operations += std::max<std::int64_t>(launch.calls, 1) - launch.kernels - launch.copies;
      }
    }
    for (const Vertex& node : trace.nodes) {
      written += ReadChakra::Number(node, "message_bytes").value_or(0);
      gpu_nodes += OnHost(node) ? 0 : 1;
      with_flops += ReadChakra::Number(node, "num_ops") ? 1 : 0;
    }
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(written, bytes);
    EXPECT_EQ(gpu_nodes, operations);
    EXPECT_GT(with_flops, 1'000);
    EXPECT_EQ(counts_.without_size, 0U);
    // Each node as soon as those before it have ended: it takes as long as it took.
    std::vector<std::int64_t> ends;
    std::int64_t last = 0;
    for (const Vertex& node : trace.nodes) {
      std::int64_t ready = 0;
      for (const std::uint64_t other : node.data_deps()) ready = std::max(ready, ends[other]);
      ends.push_back(ready + Length(node));
      last = std::max(last, Start(node) + Length(node));
    }
    const auto recorded = static_cast<double>(last - Start(trace.nodes.front()));
    EXPECT_NEAR(static_cast<double>(*std::max_element(ends.begin(), ends.end())) / recorded, 1,
                0.01);
  }
}

}  // namespace
}  // namespace traceinject
