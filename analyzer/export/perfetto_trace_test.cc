// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/perfetto_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "analyzer/common/printable.h"
#include "analyzer/export/nested_tracks.h"
#include "analyzer/export/testing/perfetto_reader.h"
#include "analyzer/export/testing/sample_recording.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class PerfettoTraceTest : public testing::Test {
 protected:
  void Write(const traceinject::Run& run) {
    auto file = OutputFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.error();
    counts_ = WritePerfettoTrace(run, file.value());
    ASSERT_TRUE(file.value().Close().ok());
  }
  PerfettoContents Export(const traceinject::Run& run) {
    Write(run);
    PerfettoContents contents = ReadPerfettoTrace(path_);
    EXPECT_EQ(contents.complaints, std::vector<std::string>());
    EXPECT_EQ(counts_.events, contents.slices.size() + contents.values.size());
    return contents;
  }
  traceinject::Run Sample(const RunDbFixture::Options& options = {.rank = 0, .end_ns = 60'000}) {
    WriteSampleRecording(folder_ / "run.db", options);
    return LoadSample(folder_ / "run.db");
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "trace.pftrace";
  ExportCounts counts_;
};

const TracedSlice& Named(const PerfettoContents& contents, const std::string& name) {
  const auto found = std::find_if(contents.slices.begin(), contents.slices.end(),
                                  [&](const TracedSlice& slice) { return slice.name == name; });
  if (found == contents.slices.end()) throw std::runtime_error("no slice " + name);
  return *found;
}

using Operation = std::tuple<std::uint64_t, std::uint64_t, std::string, std::string>;

std::multiset<Operation> OperationsOf(const traceinject::Run& run) {
  std::multiset<Operation> operations;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices) {
      const GpuOps& ops = device.ops;
      for (std::size_t row = 0; row < ops.size(); ++row) {
        if (ops.kind[row] != OpKind::kKernel) continue;
        const std::uint64_t base = static_cast<std::uint64_t>(run.base_ns);
        operations.emplace(base + static_cast<std::uint64_t>(ops.start[row]),
                           base + static_cast<std::uint64_t>(ops.end[row]),
                           Printable(rank.string(rank.shapes[ops.detail[row]].name)),
                           std::to_string(ops.correlation[row]));
      }
    }
  }
  return operations;
}

std::multiset<Operation> OperationsOf(const PerfettoContents& contents) {
  std::multiset<Operation> operations;
  for (const TracedSlice& slice : contents.slices) {
    if (slice.category == "kernel")
      operations.emplace(slice.start_ns, slice.end_ns, slice.name,
                         slice.arguments.at("correlation"));
  }
  return operations;
}

TEST_F(PerfettoTraceTest, KernelsComeBackAsTheyAre) {
  const traceinject::Run run = Sample();
  EXPECT_EQ(OperationsOf(Export(run)), OperationsOf(run));
}

TEST_F(PerfettoTraceTest, RecordingsOfTrainingComeBackAsTheyAre) {
  for (const char* name : {"transformer_h200.db.zst", "slow_numpy_h100.db.zst", "ddp_h200"}) {
    const std::string path = std::string(TRACEINJECT_RECORDINGS) + "/" + name;
    const traceinject::Run run = LoadSample(path);
    ASSERT_FALSE(run.ranks.empty());
    const PerfettoContents contents = Export(run);
    EXPECT_EQ(OperationsOf(contents), OperationsOf(run)) << name;
    EXPECT_EQ(contents.pids.size(), run.ranks.size());
    EXPECT_EQ(counts_.left_out, 0U);
  }
}

TEST_F(PerfettoTraceTest, SampledStacksAreATrackOfTheThread) {
  traceinject::Run run = Sample();
  Rank& rank = run.ranks.front();
  rank.strings.insert(rank.strings.end(), {"main", "/w/train.py", "step"});
  const auto text = static_cast<std::uint32_t>(rank.strings.size() - 3);
  rank.places = {{text, text + 1, 9, 1}, {text + 2, text + 1, 41, 1}};
  rank.stacks = {{kNone, 0}, {0, 1}};
  rank.facts.push_back({"stacks", "period_ns", "10000", ""});
  for (const std::uint32_t stack : {0, 1, 1, 0}) {
    StackSamples& samples = rank.stack_samples;
    samples.time.push_back(10'000 * static_cast<TimeNs>(samples.size()));
    samples.thread.push_back(0);
    samples.stack.push_back(stack);
    samples.kind.push_back(StackKind::kTimed);
    samples.correlation.push_back(0);
    samples.repeats.push_back(0);
    samples.span.push_back(0);
  }
  const PerfettoContents contents = Export(run);
  const TracedSlice &main = Named(contents, "main (train.py:9)"),
                    &step = Named(contents, "step (train.py:41)");
  EXPECT_EQ(main.track.find("Python of "), 0U) << main.track;
  EXPECT_EQ(step.track, main.track);
  EXPECT_EQ(main.end_ns - main.start_ns, 40'000U);
  EXPECT_EQ(step.start_ns - main.start_ns, 10'000U);
  EXPECT_EQ(step.end_ns - step.start_ns, 20'000U);
  EXPECT_EQ(step.category, "python");
  EXPECT_EQ(step.arguments.at("file"), "/w/train.py");
  EXPECT_EQ(step.arguments.at("line"), "41");
}

TEST_F(PerfettoTraceTest, SlicesNestOrStandBesideEachOther) {
  const PerfettoContents contents = Export(Sample());
  // The second kernel begins before the first has ended, on the same stream.
  const TracedSlice& first = Named(contents, "first \"quoted\" \\ <k>");
  const TracedSlice& second = Named(contents, "second(float*)");
  EXPECT_EQ(first.track, "stream 7");
  EXPECT_EQ(second.track, "stream 7");
  EXPECT_EQ(second.end_ns - second.start_ns, 9'999U);
  EXPECT_EQ(first.parent, "GPU 0 (NVIDIA H200)");
  EXPECT_EQ(Named(contents, "short").track, "stream 8");
  // A range that ends after the one that it began in, and calls that go on.
  EXPECT_EQ(Named(contents, "beside").track, "beside");
  EXPECT_EQ(Named(contents, "beside").end_ns - Named(contents, "beside").start_ns, 40'000U);
  EXPECT_EQ(Named(contents, "forward").thread, "thread-4242");
  EXPECT_EQ(Named(contents, "elsewhere").thread, "thread-4300");
  EXPECT_EQ(Named(contents, "layer").thread, "thread-4242");
  EXPECT_EQ(Named(contents, "mark").start_ns, Named(contents, "mark").end_ns);
  EXPECT_EQ(Named(contents, "open").end_ns - Named(contents, "open").start_ns, 10'000U);
}

TEST_F(PerfettoTraceTest, EventsTellWhatIsKnownOfThem) {
  const PerfettoContents contents = Export(Sample());
  const auto arguments = [&](const std::string& name) { return Named(contents, name).arguments; };
  EXPECT_EQ(arguments("second(float*)").at("grid"), "[4, 3, 2]");
  EXPECT_EQ(arguments("second(float*)").at("block"), "[64, 2, 1]");
  EXPECT_EQ(arguments("Memcpy HtoD (Pinned -> Device)").at("bytes"), "3000");
  EXPECT_EQ(arguments("Memcpy HtoD (Pinned -> Device)").at("memory bandwidth (GB/s)"), "2");
  EXPECT_EQ(arguments("ncclDevKernel_AllReduce_Sum_f32_RING_LL").at("Collective name"),
            "allreduce");
  EXPECT_EQ(arguments("ncclDevKernel_AllReduce_Sum_f32_RING_LL").at("In msg nelems"), "4096");
  EXPECT_EQ(arguments("ncclAllReduce").at("bytes"), "4096");
  EXPECT_EQ(arguments("layer").at("domain"), "torch");
  EXPECT_EQ(
      arguments("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__").at("samples"),
      "32");
  EXPECT_EQ(arguments("cublasGemmEx 128x64x32").at("types"), "bf16 x bf16 = bf16");
  EXPECT_EQ(Named(contents, "garbage collection, generation 2").category, "host");
  EXPECT_EQ(Named(contents, "cuMemcpyHtoDAsync").category, "cuda_driver");
}

TEST_F(PerfettoTraceTest, NamesArePrintable) {
  const PerfettoContents contents = Export(Sample());
  EXPECT_EQ(Named(contents, "step  [31m\uFFFD 1").category, "nvtx");
}

TEST_F(PerfettoTraceTest, ArrowsLeadFromLaunchesToAllTheyLaunched) {
  const PerfettoContents contents = Export(Sample());
  const std::vector<std::uint64_t> flow = Named(contents, "cudaGraphLaunch").flows;
  ASSERT_EQ(flow.size(), 1U);
  std::vector<bool> ends;
  for (const TracedSlice& slice : contents.slices) {
    if (slice.name == "node") ends.push_back(slice.ending_flows == flow && slice.flows.empty());
  }
  EXPECT_EQ(ends, (std::vector<bool>{false, false, true}));
  EXPECT_TRUE(Named(contents, "Memset (Unknown)").ending_flows.empty());
}

TEST_F(PerfettoTraceTest, FiguresOverTimeHaveTheirUnits) {
  const PerfettoContents contents = Export(Sample());
  ASSERT_EQ(contents.values.size(), 4U) << "what is not known is not there";
  const TracedValue& clock = contents.values[1];
  EXPECT_EQ(clock.track, "SM clock");
  EXPECT_EQ(clock.unit, "MHz");
  EXPECT_EQ(clock.value, 1980);
  EXPECT_EQ(clock.parent, "GPU 0 (NVIDIA H200)");
  EXPECT_EQ(contents.values[3].unit, "W");
  EXPECT_DOUBLE_EQ(contents.values[3].value, 432.5);
  EXPECT_EQ(contents.values[0].value, 0);
}

TEST_F(PerfettoTraceTest, HardwareCountersAreZeroWhereSamplesAreMissing) {
  traceinject::Run run = Sample();
  CounterSamples& counters = run.ranks[0].devices[0].counters;
  counters.start = {1000, 2000, 5000};
  counters.end = {2000, 3000, 6000};
  CounterColumn tensor{CounterId::kTensorActive, {}};
  for (const std::int32_t permille : {500, 625, 10}) tensor.value.push_back(permille);
  CounterColumn rate{CounterId::kPcieReceiveRate, {}};
  for (const std::int32_t mib : {7, -1, 9}) rate.value.push_back(mib);
  counters.columns = {tensor, rate};
  const PerfettoContents contents = Export(run);
  const auto values = [&](const std::string& track) {
    std::vector<double> found;
    for (const TracedValue& value : contents.values) {
      if (value.track == track) found.push_back(value.value);
    }
    return found;
  };
  EXPECT_EQ(values("tensor_active"), (std::vector<double>{50, 62.5, 0, 1, 0}));
  EXPECT_EQ(values("pcie_receive_rate"), (std::vector<double>{7, 0, 9, 0}));
  EXPECT_EQ(values("sm_active"), std::vector<double>());
}

TEST_F(PerfettoTraceTest, WhatWasNotRecordedIsThere) {
  const PerfettoContents contents = Export(Sample());
  const TracedSlice& window = Named(contents, "not recorded: window");
  EXPECT_EQ(window.end_ns - window.start_ns, 2'000U);
  EXPECT_EQ(window.track, "not recorded");
  const TracedSlice& rest = Named(contents, "not recorded: max_size");
  EXPECT_EQ(rest.end_ns - rest.start_ns, 5'000U) << "to the end of the recording";
}

TEST_F(PerfettoTraceTest, RanksOfOneIdAreTwoProcesses) {
  WriteSampleRecording(folder_ / "run.rank00000.db", {.host = "a", .pid = 1, .rank = 0});
  WriteSampleRecording(folder_ / "run.rank00001.db", {.host = "b", .pid = 1, .rank = 1});
  WriteSampleRecording(folder_ / "run.rank00002.db", {.host = "c", .pid = -7, .rank = 2});
  const PerfettoContents contents = Export(LoadSample(folder_ / "run.db"));
  const std::set<std::int64_t> pids(contents.pids.begin(), contents.pids.end());
  EXPECT_EQ(pids.size(), 3U);
  EXPECT_EQ(pids.count(1), 1U);
  EXPECT_GT(*pids.begin(), 0);
}

TEST_F(PerfettoTraceTest, MoreAtOnceThanThereAreTracksForIsCounted) {
  {
    RunDbFixture file(folder_ / "run.db", {});
    file.AddLaunchedKernel({.start_ns = 10, .dur_ns = 5}, 1, 2);
    // Each ends a little after the one before.
    for (int i = 0; i < 100; ++i)
      file.AddNvtx({.start_ns = 100 + i, .dur_ns = 1'000, .text = "range"});
    file.Close();
  }
  const PerfettoContents contents = Export(LoadSample(folder_ / "run.db"));
  EXPECT_EQ(counts_.left_out, 100 - NestedTracks::kMax);
}

TEST_F(PerfettoTraceTest, TimesBeforeTheEpochAreItsBeginning) {
  traceinject::Run run = Sample();
  run.base_ns = -100'000'000;
  const PerfettoContents contents = Export(run);
  for (const TracedSlice& slice : contents.slices) EXPECT_EQ(slice.end_ns, 0U);
}

// The tool that everybody has reads it by the published numbers, too.
TEST_F(PerfettoTraceTest, ProtocDecodesIt) {
  Write(Sample());
  const std::string text = folder_ / "trace.txt";
  const std::string command =
      std::string("'") + TRACEINJECT_PROTOC + "' --proto_path='" + TRACEINJECT_TESTDATA +
      "' --decode=public_trace.File public_trace.proto < '" + path_ + "' > '" + text + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::stringstream decoded;
  decoded << std::ifstream(text).rdbuf();
  EXPECT_NE(decoded.str().find("name: \"cudaGraphLaunch\""), std::string::npos);
  EXPECT_NE(decoded.str().find("thread_name: \"thread-4242\""), std::string::npos);
}

}  // namespace
}  // namespace traceinject
