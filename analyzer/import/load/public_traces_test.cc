// SPDX-License-Identifier: Apache-2.0
// Public traces of real GPUs, made by others, against what was counted in them by other means. They
// lie beside the source tree, not in it; without them these tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/import/load/load_run.h"
#include "analyzer/metrics/idle/partition.h"

namespace traceinject {
namespace {

// testing::Test has a Run of its own.
using Loaded = Run;

struct Counts {
  std::size_t kernels, names, nccl, memcpys, memsets, runtime, streams;
  std::int64_t steps;
};

struct Milliseconds {
  double window, compute, exposed_communication, exposed_copy, idle;
};

struct PublicTrace {
  const char* path;
  Counts counts;
  Milliseconds time;
};

const PublicTrace kTraces[] = {
    {"kineto_resnet50/nw0_a.json.gz",
     {8772, 67, 0, 12, 312, 11923, 1, 6},
     {996.477, 591.532, 0, 12.026, 392.919}},
    {"kineto_resnet50/nw0_b.json.gz",
     {8772, 67, 0, 12, 312, 11923, 1, 6},
     {876.066, 591.209, 0, 10.936, 273.921}},
    {"kineto_resnet50/nw4_a.json.gz",
     {8868, 62, 0, 12, 378, 12085, 1, 6},
     {801.550, 594.868, 0, 19.545, 187.137}},
    {"kineto_resnet50/nw4_b.json.gz",
     {8868, 62, 0, 12, 378, 12085, 1, 6},
     {728.481, 594.263, 0, 17.895, 116.323}},
    {"hta_micro/alexnet.json.gz",
     {79, 16, 0, 16, 3, 361, 2, 0},
     {12920.244, 10.630, 0, 55.511, 12854.103}},
    {"hta_micro/simple_add.json.gz",
     {79, 16, 0, 16, 3, 331, 2, 0},
     {16025.575, 10.670, 0, 39.088, 15975.817}},
    {"hta_micro/cuda_event_sync.json.gz",
     {4, 4, 0, 1, 0, 12, 1, 1},
     {0.263, 0.049, 0, 0.002, 0.212}},
    {"hta_micro/cuda_event_sync_multi_stream.json.gz",
     {3, 1, 0, 0, 3, 39, 3, 0},
     {19.506, 0.369, 0, 0.003, 19.134}},
    {"hta_nccl/nccl_data.json.gz",
     {2700, 70, 21, 960, 114, 8740, 2, 3},
     {660.551, 115.656, 39.559, 2.285, 503.051}},
    {"hta_df_index/df_index_resolver.json.gz",
     {19370, 49, 2020, 2040, 880, 42373, 2, 5},
     {1732.965, 620.516, 357.343, 22.754, 732.352}},
    {"param/linear_kineto.json.gz",
     {8716, 16, 0, 0, 1640, 14515, 1, 0},
     {1008.570, 369.343, 0, 1.640, 637.587}},
    {"param/resnet_kineto.json.gz",
     {9628, 54, 0, 123, 362, 25928, 3, 0},
     {14522.911, 4103.141, 0, 630.681, 9789.089}},
};

std::string PathOf(const PublicTrace& trace) {
  return std::string(TRACEINJECT_PUBLIC_TRACES) + "/" + trace.path;
}

Interval SpanOf(const GpuOps& ops) {
  Interval span{ops.start.front(), ops.end.front()};
  for (std::size_t i = 0; i < ops.size(); ++i) span.end = std::max(span.end, ops.end[i]);
  return span;
}

// The one device that worked.
const Device* BusyDevice(const Rank& rank) {
  const Device* busy = nullptr;
  for (const Device& device : rank.devices) {
    if (device.ops.size() == 0) continue;
    EXPECT_EQ(busy, nullptr);
    busy = &device;
  }
  return busy;
}

class PublicTraceTest : public testing::TestWithParam<PublicTrace> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(PathOf(GetParam())))
      GTEST_SKIP() << "the public traces are not at " << TRACEINJECT_PUBLIC_TRACES;
    auto run = LoadRun({PathOf(GetParam())}, {});
    ASSERT_TRUE(run.ok()) << run.error();
    run_ = std::move(run).value();
    ASSERT_EQ(run_.ranks.size(), 1u);
    device_ = BusyDevice(run_.ranks[0]);
    ASSERT_NE(device_, nullptr);
  }
  const Rank& rank() const { return run_.ranks[0]; }
  const GpuOps& ops() const { return device_->ops; }
  std::size_t CountKind(OpKind kind) const {
    return static_cast<std::size_t>(std::count(ops().kind.begin(), ops().kind.end(), kind));
  }

  Loaded run_;
  const Device* device_ = nullptr;
};

TEST_P(PublicTraceTest, Counts) {
  std::set<std::uint32_t> names;
  for (const KernelShape& shape : rank().shapes) names.insert(shape.name);
  const Counts& expected = GetParam().counts;
  EXPECT_EQ(CountKind(OpKind::kKernel), expected.kernels);
  EXPECT_EQ(names.size(), expected.names);
  EXPECT_EQ(static_cast<std::size_t>(std::count(ops().kernel_class.begin(),
                                                ops().kernel_class.end(), KernelClass::kComm)),
            expected.nccl);
  EXPECT_EQ(CountKind(OpKind::kMemcpy), expected.memcpys);
  EXPECT_EQ(CountKind(OpKind::kMemset), expected.memsets);
  EXPECT_EQ(rank().api.size(), expected.runtime);
  EXPECT_EQ(rank().streams.size(), expected.streams);
  // Of two ranks one was read, so that a communicator that is not told remains unknown.
  for (const std::string& note : run_.notes)
    EXPECT_NE(note.find("1 was read"), std::string::npos) << note;
}

TEST_P(PublicTraceTest, StepsAreTheAnnotationsOfTheHost) {
  std::int64_t steps = 0;
  for (const std::uint32_t text : rank().nvtx.text)
    steps += rank().string(text).starts_with("ProfilerStep#") ? 1 : 0;
  EXPECT_EQ(steps, GetParam().counts.steps);
}

TEST_P(PublicTraceTest, EveryOperationJoinsItsLaunch) {
  EXPECT_EQ(std::count(ops().launch.begin(), ops().launch.end(), kNone), 0);
}

TEST_P(PublicTraceTest, RaisesNoFalseAlarm) {
  const Trust& trust = rank().trust;
  EXPECT_GT(trust.operations, 0);
  EXPECT_EQ(trust.corrupt_durations + trust.overlaps + trust.early_starts + trust.outside, 0);
  EXPECT_EQ(trust.wrong_links + trust.lost_operations, 0);
  EXPECT_TRUE(trust.clock_steps.empty());
  EXPECT_TRUE(ops().unrecorded.empty());
}

TEST_P(PublicTraceTest, Partition) {
  const Partition partition = PartitionOf(ops(), SpanOf(ops()));
  const Milliseconds& expected = GetParam().time;
  const auto text = [](TimeNs ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6); };
  EXPECT_EQ(text(partition.wall_ns), fmt::format("{:.3f}", expected.window));
  EXPECT_EQ(text(partition.compute_ns), fmt::format("{:.3f}", expected.compute));
  EXPECT_EQ(text(partition.exposed_communication_ns),
            fmt::format("{:.3f}", expected.exposed_communication));
  EXPECT_EQ(text(partition.exposed_copy_ns), fmt::format("{:.3f}", expected.exposed_copy));
  EXPECT_EQ(text(partition.idle_ns), fmt::format("{:.3f}", expected.idle));
}

INSTANTIATE_TEST_SUITE_P(All, PublicTraceTest, testing::ValuesIn(kTraces),
                         [](const testing::TestParamInfo<PublicTrace>& trace) {
                           const std::filesystem::path path(trace.param.path);
                           return path.stem().stem().string();
                         });

class PublicLoadersTest : public testing::Test {
 protected:
  static Loaded Load(const std::string& path) {
    auto run = LoadRun({std::string(TRACEINJECT_PUBLIC_TRACES) + "/" + path}, {});
    EXPECT_TRUE(run.ok());
    return run.ok() ? std::move(run).value() : Loaded();
  }
  static bool Present() { return std::filesystem::exists(TRACEINJECT_PUBLIC_TRACES); }
  static double WaitedMs(const Rank& rank) {
    TimeNs sum = 0;
    for (std::size_t i = 0; i < rank.data_waits.size(); ++i)
      sum += rank.data_waits.end[i] - rank.data_waits.start[i];
    return static_cast<double>(sum) / 1e6;
  }
};

TEST_F(PublicLoadersTest, WaitsForTheLoader) {
  if (!Present()) GTEST_SKIP() << "no public traces at " << TRACEINJECT_PUBLIC_TRACES;
  const Loaded without_workers = Load("kineto_resnet50/nw0_a.json.gz");
  const Rank& first = without_workers.ranks.at(0);
  EXPECT_EQ(first.data_waits.size(), 6u);
  EXPECT_NEAR(WaitedMs(first), 415.8, 0.05);
  EXPECT_EQ(first.loaders.size(), 1u);
  EXPECT_NEAR(WaitedMs(Load("kineto_resnet50/nw4_b.json.gz").ranks.at(0)), 8.5, 0.05);
  const Loaded iterations = Load("param/resnet_kineto.json.gz");
  EXPECT_EQ(iterations.ranks.at(0).data_waits.size(), 30u);
  EXPECT_NEAR(WaitedMs(iterations.ranks.at(0)), 8205, 0.5);
}

TEST_F(PublicLoadersTest, OptimizerStepsAreIterations) {
  if (!Present()) GTEST_SKIP() << "no public traces at " << TRACEINJECT_PUBLIC_TRACES;
  EXPECT_EQ(Load("param/linear_kineto.json.gz").ranks.at(0).step_marks.size(), 40u);
  EXPECT_EQ(Load("param/resnet_kineto.json.gz").ranks.at(0).step_marks.size(), 30u);
}

// 5 buckets of gradients and 2 broadcasts of buffers in each of 3 steps; together the gradients
// are the parameters of ResNet-50.
TEST_F(PublicLoadersTest, CollectivesOfAResNetStep) {
  if (!Present()) GTEST_SKIP() << "no public traces at " << TRACEINJECT_PUBLIC_TRACES;
  const Loaded run = Load("hta_nccl/nccl_data.json.gz");
  const Rank& rank = run.ranks.at(0);
  std::int64_t reduced = 0, broadcasts = 0;
  for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
    const std::string_view function = rank.string(rank.collectives.function[i]);
    if (function == "AllReduce") reduced += rank.collectives.bytes[i];
    broadcasts += function == "Broadcast" ? 1 : 0;
  }
  EXPECT_EQ(rank.collectives.size(), 21u);
  EXPECT_EQ(broadcasts, 6);
  EXPECT_EQ(reduced, 3 * 102228128);
  ASSERT_EQ(rank.communicators.size(), 1u);
  EXPECT_EQ(rank.communicators[0].size, 2);
  EXPECT_EQ(rank.communicators[0].rank, 0);
}

}  // namespace
}  // namespace traceinject
