// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/structure_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// A training program that marks nothing, on one GPU. Kernels follow each other 1 us apart.
class Unmarked {
 public:
  struct Plan {
    int layers = 12, micro_batches = 1;
    bool uploads = true, named_optimizer = true;
    int communicate = 0;  // buckets of gradients after the last micro-batch
    double jitter = 0;    // of the length of each kernel
    double lost = 0;      // share of records
  };

  explicit Unmarked(const Plan& plan, int seed = 1)
      : plan_(plan), random_(static_cast<unsigned>(seed)) {}

  void Kernel(const std::string& name, TimeNs length = 10'000, int grid = 1) {
    host_ += 2'000;
    const auto more = static_cast<TimeNs>(plan_.jitter * Random() * static_cast<double>(length));
    const TimeNs start = std::max(host_ + 4'000, gpu_ + 1'000);
    gpu_ = start + length + more;
    if (Random() < plan_.lost) return;
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'500, "cudaLaunchKernel");
    builder_.AddKernel(start, gpu_, name, call, 0, grid);
  }
  void Copy(bool up, std::int64_t bytes, TimeNs length = 20'000) {
    host_ += 2'000;
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'500, "cudaMemcpyAsync");
    const TimeNs start = std::max(host_ + 4'000, gpu_ + 1'000);
    gpu_ = start + length;
    builder_.AddCopy(start, gpu_,
                     {.bytes = bytes,
                      .kind = static_cast<std::uint8_t>(up ? 1 : 2),
                      .src_kind = static_cast<std::uint8_t>(up ? 2 : 3),
                      .dst_kind = static_cast<std::uint8_t>(up ? 3 : 2),
                      .async = true},
                     call);
  }
  // The host waits for the GPU and does something else.
  void Pause(TimeNs length) { host_ = std::max(host_, gpu_) + length; }

  void Forward(int rows, const std::string& model = "") {
    if (plan_.uploads) Copy(true, rows * 1'000);
    Kernel(model + "embedding_kernel", 10'000, rows);
    for (int layer = 0; layer < plan_.layers; ++layer) {
      for (const char* part : {"gemm_qkv", "flash_fwd", "gemm_out", "layer_norm", "gemm_up"})
        Kernel(model + part, 10'000, rows * 4);
    }
  }
  void Backward(int rows, const std::string& model = "") {
    Kernel(model + "nll_loss_kernel", 10'000, rows);
    for (int layer = 0; layer < plan_.layers; ++layer) {
      for (const char* part : {"gemm_dgrad", "gemm_wgrad", "flash_bwd", "layer_norm_bwd"})
        Kernel(model + part, 20'000, rows * 4);
    }
    Kernel(model + "embedding_backward", 10'000, rows);
  }
  void Optimizer(int chunks = 5, int grid = 300) {
    for (int i = 0; i < plan_.communicate; ++i)
      Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 200'000);
    const std::string name =
        plan_.named_optimizer ? "multi_tensor_apply_kernel<FusedAdam>" : "elementwise_kernel";
    for (int i = 0; i < chunks; ++i) Kernel(name, 30'000, grid + i);
  }
  void Step() {
    for (int i = 0; i < plan_.micro_batches; ++i) {
      Forward(32);
      Backward(32);
    }
    Optimizer();
    EndStep();
  }
  // Steps end on the device where the last operation of the optimizer does.
  void EndStep() { ends_.push_back(gpu_); }
  // Before the first step.
  void Initialize() {
    for (int i = 0; i < 40; ++i) Kernel("distribution_normal_kernel", 3'000, 10 + i);
    Pause(50'000'000);
  }

  double Random() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  Rank& rank() { return builder_.rank(); }
  RankBuilder& builder() { return builder_; }
  TimeNs host() const { return host_; }
  std::size_t steps() const { return ends_.size(); }
  // Between the ends of the first and the last step, in the middle of all.
  TimeNs MedianLength() const {
    std::vector<TimeNs> lengths;
    for (std::size_t i = 1; i < ends_.size(); ++i) lengths.push_back(ends_[i] - ends_[i - 1]);
    std::sort(lengths.begin(), lengths.end());
    return lengths[lengths.size() / 2];
  }
  Steps Find() {
    const Device& device = rank().devices[0];
    return FindSteps(rank(), device,
                     {device.ops.start.front(),
                      *std::max_element(device.ops.end.begin(), device.ops.end.end())});
  }
  // The count is that of the program, but for a step that the recording cuts; the median within 1
  // %.
  void ExpectFound(const std::string& what) {
    const Steps found = Find();
    EXPECT_EQ(found.source, StepSource::kStructure) << what;
    EXPECT_LE(found.steps.size(), steps()) << what;
    EXPECT_GE(found.steps.size() + 1, steps()) << what;
    const auto truth = static_cast<double>(MedianLength());
    EXPECT_NEAR(static_cast<double>(found.median_ns), truth, 0.01 * truth) << what;
    EXPECT_GE(found.confidence, kMinStepConfidence) << what;
    EXPECT_LE(found.confidence, 1) << what;
  }

 private:
  Plan plan_;
  std::mt19937 random_;
  RankBuilder builder_;
  TimeNs host_ = 0, gpu_ = 0;
  std::vector<TimeNs> ends_;
};

using Plan = Unmarked::Plan;

TEST(StructureStepsTest, PlainTraining) {
  for (const bool named : {true, false}) {
    for (const bool uploads : {true, false}) {
      Unmarked run({.uploads = uploads, .named_optimizer = named});
      run.Initialize();
      for (int i = 0; i < 20; ++i) run.Step();
      run.ExpectFound("named " + std::to_string(named) + ", uploads " + std::to_string(uploads));
    }
  }
}

TEST(StructureStepsTest, AStepEndsWithItsOptimizer) {
  Unmarked run({});
  for (int i = 0; i < 10; ++i) run.Step();
  const Steps found = run.Find();
  ASSERT_EQ(found.steps.size(), 10U);
  const GpuOps& ops = run.builder().ops();
  for (const Step& step : found.steps)
    EXPECT_EQ(ops.kernel_class[step.last_op], KernelClass::kOptimizer);
  EXPECT_EQ(found.confidence, 1);
}

TEST(StructureStepsTest, TheFirstStepBeginsWithTheWaitForItsData) {
  Unmarked run({});
  run.Pause(1'000'000);
  for (int i = 0; i < 10; ++i) {
    run.builder().AddDataWait(run.host(), run.host() + 500'000);
    run.Pause(500'000);
    run.Step();
  }
  EXPECT_EQ(run.Find().start_ns, 1'000'000);
}

TEST(StructureStepsTest, MicroBatchesAreNoSteps) {
  for (const int micro_batches : {2, 4, 16, 64}) {
    Unmarked run({.layers = 6, .micro_batches = micro_batches});
    run.Initialize();
    for (int i = 0; i < 12; ++i) run.Step();
    run.ExpectFound(std::to_string(micro_batches) + " micro-batches");
  }
}

// Without an optimizer that can be told by its name the exchange of gradients tells.
TEST(StructureStepsTest, GradientsAreExchangedOnceAStep) {
  Unmarked run({.micro_batches = 4, .named_optimizer = false, .communicate = 3});
  for (int i = 0; i < 12; ++i) run.Step();
  run.ExpectFound("4 micro-batches, unknown optimizer");
}

// Each stage of a pipeline does forward and backward passes of different micro-batches in turn.
TEST(StructureStepsTest, PipelinedMicroBatches) {
  Unmarked run({.layers = 4});
  for (int i = 0; i < 12; ++i) {
    for (int forward = 0; forward < 3; ++forward) run.Forward(8);
    for (int pair = 0; pair < 13; ++pair) {
      run.Backward(8);
      run.Forward(8);
    }
    for (int backward = 0; backward < 3; ++backward) run.Backward(8);
    run.Optimizer();
    run.EndStep();
  }
  run.ExpectFound("16 micro-batches, 4 stages");
}

TEST(StructureStepsTest, EvaluationIsNoStepButMakesOneIrregular) {
  Unmarked run({});
  run.Initialize();
  for (int i = 0; i < 40; ++i) {
    run.Step();
    if (i % 10 != 9 || i == 39) continue;
    for (int batch = 0; batch < 8; ++batch) run.Forward(64);
  }
  run.ExpectFound("evaluation every 10 steps");
  const Steps found = run.Find();
  EXPECT_EQ(found.count(&Step::irregular), 3U);
  EXPECT_NEAR(static_cast<double>(*found.regular_mean_ns()),
              static_cast<double>(run.MedianLength()),
              0.01 * static_cast<double>(run.MedianLength()));
}

TEST(StructureStepsTest, StepsBetweenTwoCheckpointsAreNotOne) {
  for (const int every : {2, 5, 10}) {
    for (const bool named : {true, false}) {
      Unmarked run({.named_optimizer = named});
      for (int i = 0; i < 40; ++i) {
        run.Step();
        if (i % every != every - 1 || i == 39) continue;
        for (int tensor = 0; tensor < 30; ++tensor) run.Copy(false, 1'000'000 + tensor, 100'000);
        run.Pause(10'000'000);
      }
      const Steps found = run.Find();
      EXPECT_EQ(found.source, StepSource::kStructure);
      EXPECT_NEAR(static_cast<double>(found.steps.size()), 40, 1) << every << named;
    }
  }
}

TEST(StructureStepsTest, LengthsMayDriftAndJitter) {
  Unmarked run({.jitter = 0.5});
  for (int i = 0; i < 50; ++i) {
    run.Step();
    run.Pause(i * 20'000);  // slower and slower
  }
  run.ExpectFound("drift and jitter");
}

TEST(StructureStepsTest, ShapesMayChangeFromStepToStep) {
  Unmarked run({});
  for (int i = 0; i < 30; ++i) {
    const int rows = 16 + static_cast<int>(run.Random() * 48);
    run.Forward(rows);
    run.Backward(rows);
    run.Optimizer();
    run.EndStep();
  }
  run.ExpectFound("variable shapes");
}

TEST(StructureStepsTest, TheNumberOfLaunchesMayVary) {
  Unmarked run({});
  for (int i = 0; i < 40; ++i) {
    run.Forward(32);
    for (int extra = static_cast<int>(run.Random() * 12); extra > 0; --extra)
      run.Kernel("beam_search_kernel", 5'000);
    run.Backward(32);
    run.Optimizer();
    run.EndStep();
  }
  run.ExpectFound("variable number of launches");
}

TEST(StructureStepsTest, LostRecordsAreWalkedOver) {
  for (const double lost : {0.002, 0.01, 0.03}) {
    for (int seed = 1; seed <= 5; ++seed) {
      Unmarked run({.lost = lost}, seed);
      for (int i = 0; i < 60; ++i) run.Step();
      run.ExpectFound(std::to_string(lost) + " lost, seed " + std::to_string(seed));
    }
  }
}

// A generator and a discriminator, each with its own optimizer, are trained in turn.
TEST(StructureStepsTest, TwoModelsInTurnAreOneStep) {
  for (const int critics : {1, 5}) {
    Unmarked run({.layers = 8});
    run.Initialize();
    for (int i = 0; i < 20; ++i) {
      for (int critic = 0; critic < critics; ++critic) {
        run.Forward(32, "critic_");
        run.Backward(32, "critic_");
        run.Optimizer(3, 100);
      }
      run.Forward(32, "generator_");
      run.Forward(32, "critic_");
      run.Backward(32, "critic_");
      run.Backward(32, "generator_");
      run.Optimizer(4, 200);
      run.EndStep();
      run.Pause(100'000);
    }
    run.ExpectFound(std::to_string(critics) + " critic steps for one of the generator");
  }
}

// One launch replays forward and backward passes, with hundreds of nodes.
class GraphReplays : public Unmarked {
 public:
  using Unmarked::Unmarked;
  void Replay(std::uint32_t graph, int nodes, bool optimizer) {
    Rank& rank = builder().rank();
    for (auto next = static_cast<std::uint32_t>(rank.graph_nodes.size()); next <= graph; ++next)
      rank.graph_nodes.push_back({next, 0});
    const std::uint32_t call = builder().AddApi(host(), host() + 5'000, "cudaGraphLaunch");
    TimeNs start = std::max(host() + 8'000, end_ + 1'000);
    GpuOps& ops = builder().ops();
    for (int node = 0; node < nodes; ++node) {
      const bool last = optimizer && node == nodes - 1;
      builder().AddKernel(start, start + 4'000, last ? "FusedAdamKernel" : "gemm_kernel", call);
      SetNode(ops, graph);
      start += 5'000;
    }
    end_ = start;
    Pause(end_ - host());
  }

 private:
  static void SetNode(GpuOps& ops, std::uint32_t node) {
    PackedColumn<std::uint32_t> column;
    for (std::size_t i = 0; i + 1 < ops.size(); ++i) column.push_back(ops.graph_node[i]);
    column.push_back(node);
    ops.graph_node = std::move(column);
  }
  TimeNs end_ = 0;
};

TEST(StructureStepsTest, ReplaysOfAGraph) {
  GraphReplays run(Plan{});
  for (int i = 0; i < 15; ++i) {
    run.Copy(true, 4'096);
    run.Copy(true, 256);
    run.Replay(0, 30, true);
  }
  const Steps found = run.Find();
  EXPECT_EQ(found.source, StepSource::kStructure);
  EXPECT_NEAR(static_cast<double>(found.steps.size()), 15, 1);
}

TEST(StructureStepsTest, SeveralReplaysBeforeAnOptimizer) {
  GraphReplays run(Plan{});
  for (int i = 0; i < 15; ++i) {
    for (int micro_batch = 0; micro_batch < 4; ++micro_batch) {
      run.Copy(true, 4'096);
      run.Replay(0, 10, false);
      run.Replay(1, 20, false);
    }
    run.Pause(1'000);
    run.Replay(2, 3, true);
  }
  const Steps found = run.Find();
  EXPECT_EQ(found.source, StepSource::kStructure);
  EXPECT_NEAR(static_cast<double>(found.steps.size()), 15, 1);
}

TEST(StructureStepsTest, KernelsThatAllComeSeveralTimesAStep) {
  for (int seed = 0; seed < 20; ++seed) {
    Unmarked run({}, seed);
    std::vector<int> order;
    for (int i = 0; i < 25 + seed; ++i) order.push_back(static_cast<int>(run.Random() * 6));
    for (int step = 0; step < 100; ++step) {
      for (const int kernel : order)
        run.Kernel("kernel_" + std::to_string(kernel), 10'000 * (kernel + 1));
      run.EndStep();
      run.Pause(500'000);
    }
    run.ExpectFound("seed " + std::to_string(seed));
  }
}

TEST(StructureStepsTest, WhatDoesNotRepeatHasNoSteps) {
  Unmarked noise({});
  for (int i = 0; i < 5'000; ++i)
    noise.Kernel("kernel_" + std::to_string(static_cast<int>(noise.Random() * 40)));
  EXPECT_EQ(noise.Find().source, StepSource::kWindow);
  Unmarked alone({});
  for (int i = 0; i < 500; ++i) alone.Kernel("gemm");
  EXPECT_EQ(alone.Find().source, StepSource::kWindow);
  Unmarked two({});
  for (int i = 0; i < 2; ++i) two.Step();
  EXPECT_EQ(two.Find().source, StepSource::kWindow);
}

TEST(StructureStepsTest, OperationsWithoutLaunchCalls) {
  Unmarked run({});
  for (int i = 0; i < 20; ++i) run.Step();
  GpuOps& ops = run.builder().ops();
  ops.launch = {};
  for (std::size_t i = 0; i < ops.size(); ++i) ops.launch.push_back(kNone);
  run.ExpectFound("no launch calls");
}

TEST(StructureStepsTest, SomeOperationsWithoutLaunchCalls) {
  Unmarked run({});
  for (int i = 0; i < 20; ++i) run.Step();
  std::vector<std::uint32_t> launch;
  const GpuOps& ops = run.builder().ops();
  for (std::size_t i = 0; i < ops.size(); ++i)
    launch.push_back(i % 50 == 0 ? kNone : ops.launch[i]);
  run.builder().ops().launch = launch;
  run.ExpectFound("some without launch calls");
}

TEST(StructureStepsTest, NothingAtAll) {
  Rank rank;
  EXPECT_FALSE(FindStructureSteps(rank, {}));
}

}  // namespace
}  // namespace traceinject
