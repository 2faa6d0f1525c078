// SPDX-License-Identifier: Apache-2.0
// Programs without PyTorch, as compiled ones launch: few kernels or one graph a step, equal from
// step to step, with nothing that marks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr int kLoop = 200;  // steps

class CompiledProgram {
 public:
  explicit CompiledProgram(unsigned seed) : random_(seed) {}

  void Kernel(const std::string& name, TimeNs length = 50'000) {
    host_ += About(3'000);
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'500, "cuLaunchKernel", 1);
    const TimeNs start = std::max(host_ + 4'000, gpu_ + 1'000);
    gpu_ = start + About(length);
    builder_.AddKernel(start, gpu_, name, call);
    nodes_.push_back(kNone);
  }
  void Graph(std::uint32_t graph, int nodes, TimeNs length = 50'000) {
    auto& known = builder_.rank().graph_nodes;
    while (known.size() <= graph) known.push_back({static_cast<std::uint32_t>(known.size()), 0});
    host_ += About(3'000);
    const std::uint32_t call = builder_.AddApi(host_, host_ + 5'000, "cuGraphLaunch", 1);
    gpu_ = std::max(host_ + 8'000, gpu_);
    for (int node = 0; node < nodes; ++node) {
      const TimeNs start = gpu_ + 500;
      gpu_ = start + About(length);
      builder_.AddKernel(start, gpu_, "fusion_" + std::to_string(node % 5), call);
      nodes_.push_back(graph);
    }
  }
  void Copy(bool up, std::int64_t bytes) {
    host_ += About(3'000);
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'500, "cuMemcpyAsync", up ? 0 : 1);
    const TimeNs start = std::max(host_ + 4'000, gpu_ + 1'000);
    gpu_ = start + 2'000;
    const auto of = [](bool one, int yes, int no) {
      return static_cast<std::uint8_t>(one ? yes : no);
    };
    builder_.AddCopy(
        start, gpu_,
        {.bytes = bytes, .kind = of(up, 1, 2), .src_kind = of(up, 2, 3), .dst_kind = of(up, 3, 2)},
        call);
    nodes_.push_back(kNone);
  }
  // Another thread waits than the one that launches.
  void Wait(const std::string& call = "cuStreamSynchronize") {
    host_ += 1'000;
    const TimeNs end = std::max(host_ + 1'000, gpu_ + About(8'000));
    builder_.AddApi(host_, end, call, 0);
    host_ = end;
  }
  void Pause(TimeNs length) { host_ += About(length); }
  // Compilation tries kernels that never run again.
  void StartUp(int kernels) {
    for (int i = 0; i < kernels; ++i) {
      Kernel("cutlass_" + std::to_string(static_cast<int>(random_() % 40)), 20'000);
      if (i % 3 == 0) Wait();
    }
    Pause(400'000'000);
  }
  template <typename Body>
  void Annotated(const std::string& text, Body body) {
    const TimeNs start = host_ + 500;
    body();
    ranges_.push_back({start, host_ + 2'000, text, "TSL", 1});
  }
  template <typename Body>
  void Program(const std::string& name, Body body) {
    Annotated("XlaModule:#hlo_module=" + name + ",program_id=7#", body);
  }
  void EndStep() { ends_.push_back(gpu_); }

  Steps Find() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const auto& a, const auto& b) { return a.start < b.start; });
    for (const RankBuilder::Range& range : ranges_) builder_.AddRange(range);
    builder_.ops().graph_node = {};
    for (const std::uint32_t node : nodes_) builder_.ops().graph_node.push_back(node);
    const Device& device = builder_.rank().devices[0];
    return FindSteps(builder_.rank(), device,
                     {device.ops.start.front(),
                      *std::max_element(device.ops.end.begin(), device.ops.end.end())});
  }
  double MedianLength() const {
    std::vector<TimeNs> lengths;
    for (std::size_t i = 1; i < ends_.size(); ++i) lengths.push_back(ends_[i] - ends_[i - 1]);
    std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2, lengths.end());
    return static_cast<double>(lengths[lengths.size() / 2]);
  }

 private:
  // Within a fifth.
  TimeNs About(TimeNs length) {
    return length - length / 5 +
           static_cast<TimeNs>(random_() % static_cast<std::uint64_t>(2 * length / 5 + 1));
  }

  std::mt19937_64 random_;
  RankBuilder builder_;
  std::vector<RankBuilder::Range> ranges_;
  std::vector<std::uint32_t> nodes_;  // of each operation
  std::vector<TimeNs> ends_;
  TimeNs host_ = 0, gpu_ = 0;
};

struct Loop {
  std::string what;
  void (*step)(CompiledProgram& program, int number);
};

// What a loop is of, but for start-up and what lies between steps.
const std::vector<Loop>& Loops() {
  static const std::vector<Loop> loops = {
      {"one kernel and a wait",
       [](CompiledProgram& program, int) {
         program.Kernel("loop_fusion", 300'000);
         program.Wait();
       }},
      {"one kernel and an event",
       [](CompiledProgram& program, int) {
         program.Kernel("train_step", 300'000);
         program.Wait("cuEventSynchronize");
       }},
      {"two kernels without a wait",
       [](CompiledProgram& program, int) {
         program.Kernel("loop_fusion", 90'000);
         program.Kernel("input_fusion", 60'000);
       }},
      {"three kernels and a fetched loss",
       [](CompiledProgram& program, int) {
         for (const char* name : {"gemm_fusion", "loop_fusion", "update_fusion"})
           program.Kernel(name);
         program.Copy(false, 4);
         program.Wait();
       }},
      {"a batch, one kernel, a fetched loss",
       [](CompiledProgram& program, int) {
         program.Copy(true, 4'096);
         program.Kernel("train_step", 300'000);
         program.Copy(false, 4);
         program.Wait();
       }},
      {"one graph", [](CompiledProgram& program, int) { program.Graph(0, 16, 10'000); }},
      {"one graph and a wait",
       [](CompiledProgram& program, int) {
         program.Graph(0, 16, 10'000);
         program.Wait();
       }},
      {"two graphs around a kernel",
       [](CompiledProgram& program, int) {
         program.Graph(0, 8, 10'000);
         program.Kernel("custom_call");
         program.Graph(1, 8, 10'000);
         program.Wait();
       }},
      {"a loop of 32 on the device",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 32; ++i) {
           program.Kernel("loop_body_a", 8'000);
           program.Kernel("loop_body_b", 8'000);
         }
         program.Kernel("update_fusion");
         program.Wait();
       }},
      {"one kernel, eight times, and a wait",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 8; ++i) program.Kernel("while_body", 20'000);
         program.Wait();
       }},
      {"a scan whose condition is fetched",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 6; ++i) {
           program.Kernel("while_body", 20'000);
           program.Copy(false, 1);
           program.Wait();
         }
         program.Kernel("update_fusion");
         program.Copy(false, 4);
         program.Wait();
       }},
      {"four micro-batches and an update",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 4; ++i) program.Kernel("gradients", 200'000);
         program.Kernel("update", 20'000);
       }},
      {"two micro-batches and an update",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 2; ++i) program.Kernel("gradients", 200'000);
         program.Kernel("update", 20'000);
         program.Wait();
       }},
      {"eight graphs of gradients and one of the update",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 8; ++i) {
           program.Copy(true, 4'096);
           program.Graph(0, 16, 10'000);
         }
         program.Graph(1, 2, 10'000);
       }},
      {"eight graphs of gradients from data on the GPU",
       [](CompiledProgram& program, int) {
         for (int i = 0; i < 8; ++i) program.Graph(0, 16, 10'000);
         program.Graph(1, 2, 10'000);
         program.Wait();
       }},
      {"a program that names itself, of like kernels",
       [](CompiledProgram& program, int) {
         program.Copy(true, 1'024);
         program.Program("jit_train_step", [&] {
           for (int i = 0; i < 24; ++i) program.Kernel("fusion_" + std::to_string(i % 3), 8'000);
         });
         program.Copy(false, 4);
         program.Wait();
       }},
      {"many kernels, as TensorFlow launches them",
       [](CompiledProgram& program, int) {
         program.Copy(true, 65'536);
         for (int i = 0; i < 40; ++i) program.Kernel("op_" + std::to_string(i), 8'000);
         program.Kernel("ApplyAdam", 20'000);
         program.Copy(false, 4);
         program.Wait();
       }},
      {"plain CUDA, like kernels, and a wait for the device",
       [](CompiledProgram& program, int) {
         for (const char* name : {"forward", "loss", "backward", "update"}) program.Kernel(name);
         program.Wait("cuCtxSynchronize");
       }},
  };
  return loops;
}

enum class Beside { kNothing, kStartUp, kEvaluation, kCheckpoints };

void Play(const Loop& loop, Beside beside, CompiledProgram& program) {
  if (beside == Beside::kStartUp) program.StartUp(900);
  program.Wait();
  for (int i = 0; i < kLoop; ++i) {
    loop.step(program, i);
    program.EndStep();
    program.Pause(20'000);
    if (beside == Beside::kEvaluation && i % 40 == 39 && i + 1 < kLoop) {
      for (int batch = 0; batch < 12; ++batch) {
        program.Copy(true, 2'048);
        program.Kernel("evaluate", 300'000);
        program.Kernel("metrics", 10'000);
      }
      program.Copy(false, 8);
      program.Wait();
    }
    if (beside == Beside::kCheckpoints && i % 50 == 49 && i + 1 < kLoop) {
      for (int tensor = 0; tensor < 20; ++tensor) program.Copy(false, 1'000'000 + tensor);
      program.Wait();
      program.Pause(20'000'000);
    }
  }
}

class CompiledStepsTest : public testing::TestWithParam<Beside> {};

TEST_P(CompiledStepsTest, EveryRepetitionIsOneStep) {
  for (const Loop& loop : Loops()) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      CompiledProgram program(seed);
      Play(loop, GetParam(), program);
      const Steps found = program.Find();
      const auto steps = static_cast<double>(found.steps.size());
      const double median = static_cast<double>(found.median_ns) / program.MedianLength();
      EXPECT_TRUE(found.source == StepSource::kStructure &&
                  std::abs(steps - kLoop) <= kLoop / 100.0 && std::abs(median - 1) <= 0.02)
          << loop.what << ", beside " << static_cast<int>(GetParam()) << ", seed " << seed << ": "
          << steps << " steps by " << StepSourceName(found.source) << ", median " << median
          << " of the true one";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompiledStepsTest,
                         testing::Values(Beside::kNothing, Beside::kStartUp, Beside::kEvaluation,
                                         Beside::kCheckpoints));

// JAX's step annotations tell what structure would have to guess, whatever is between them.
TEST(CompiledStepsTest, StepAnnotationsOfJaxAreTheSteps) {
  CompiledProgram program(1);
  program.StartUp(200);
  for (int i = 0; i < 60; ++i) {
    program.Annotated("train#_r=1,step_num=" + std::to_string(i) + "#", [&] {
      for (int part = 0; part < 2; ++part) {
        program.Program("jit_half", [&] { program.Kernel("loop_fusion", 100'000); });
        program.Wait();
      }
    });
  }
  const Steps found = program.Find();
  EXPECT_EQ(found.source, StepSource::kRanges);
  EXPECT_EQ(found.pattern, "train#_r=1,step_num=N");
  EXPECT_EQ(found.steps.size(), 60U);
}

// XLA tries kernels for each of a few programs, loading their code before; training comes later,
// and takes most of the time.
TEST(CompiledStepsTest, TuningThatRepeatsIsNoTraining) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CompiledProgram program(seed);
    program.StartUp(100);
    for (int tuned = 0; tuned < 5; ++tuned) {
      for (const std::int64_t bytes : {40'276, 29'076, 11'200}) program.Copy(true, bytes);
      for (int kernel = 0; kernel < 160; ++kernel) {
        program.Kernel("redzone", 30'000);
        program.Kernel("gemm_fusion_" + std::to_string(kernel % 20), 30'000);
        program.Copy(false, 8);
        program.Wait();
      }
      program.Pause(50'000'000);
    }
    for (int i = 0; i < kLoop; ++i) {
      program.Copy(true, 8'388'608);
      program.Program("jit_step", [&] {
        for (int part = 0; part < 20; ++part) program.Kernel("loop_fusion", 17'000);
      });
      program.Pause(10'000'000);
      program.EndStep();
    }
    const Steps found = program.Find();
    EXPECT_NEAR(static_cast<double>(found.steps.size()), kLoop, 1) << "seed " << seed;
    EXPECT_NEAR(static_cast<double>(found.median_ns) / program.MedianLength(), 1, 0.02);
  }
}

// Layers come more often than steps, and in two loops a step: forward and backward.
TEST(CompiledStepsTest, LayersOfAScannedModelAreNoSteps) {
  for (const int layers : {12, 24, 48, 96}) {
    for (const int steps : {8, 30}) {
      CompiledProgram program(static_cast<unsigned>(layers));
      for (int i = 0; i < steps; ++i) {
        program.Kernel("embed");
        for (int layer = 0; layer < layers; ++layer) {
          for (const char* name : {"attention", "gemm", "fusion"}) program.Kernel(name, 10'000);
        }
        program.Kernel("loss");
        for (int layer = 0; layer < layers; ++layer) {
          for (const char* name : {"attention_bwd", "gemm_dgrad", "gemm_wgrad", "fusion_bwd"})
            program.Kernel(name, 10'000);
        }
        program.Kernel("adam");
        program.EndStep();
        if (i % 4 == 3) program.Wait();
      }
      EXPECT_NEAR(static_cast<double>(program.Find().steps.size()), steps, 1)
          << layers << " layers, " << steps << " steps";
    }
  }
}

// A program that only launches one kernel over and over says nothing of its steps.
TEST(CompiledStepsTest, OneKernelWithoutAWaitIsNoStep) {
  CompiledProgram program(1);
  for (int i = 0; i < 500; ++i) program.Kernel("loop_fusion");
  EXPECT_EQ(program.Find().source, StepSource::kWindow);
}

TEST(CompiledStepsTest, CopiesOfWeightsAreNoSteps) {
  for (const bool waits : {false, true}) {
    CompiledProgram program(1);
    for (int i = 0; i < 40; ++i) {
      program.Copy(true, 1'000'000 + i);
      if (waits) program.Wait();
    }
    for (int layer = 0; layer < 5; ++layer) program.Kernel("layer_" + std::to_string(layer), 3'000);
    EXPECT_EQ(program.Find().source, StepSource::kWindow);
  }
}

TEST(CompiledStepsTest, WaitsAfterWorkThatNeverRepeatsEndNoSteps) {
  std::mt19937_64 random(1);
  CompiledProgram program(1);
  for (int i = 0; i < 400; ++i) {
    for (std::uint64_t kernel = random() % 9; kernel > 0; --kernel)
      program.Kernel("kernel_" + std::to_string(random() % 20));
    program.Wait();
  }
  EXPECT_EQ(program.Find().source, StepSource::kWindow);
}

}  // namespace
}  // namespace traceinject
