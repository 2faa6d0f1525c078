// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/step_kinds.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kForward = "sm90_xmma_gemm_bf16bf16";
constexpr const char* kBackward = "layer_norm_grad_input_backward_kernel";
constexpr const char* kOptimizer = "multi_tensor_apply_kernel<FusedAdamMathFunctor>";
constexpr TimeNs kKernel = 1'000'000;

// One step after another, each ended by an optimizer mark: 4 forward kernels, 4 of the backward
// pass, 1 of the optimizer.
class Program {
 public:
  void Launch(const char* name, int times = 1, std::uint32_t thread = 0) {
    for (int i = 0; i < times; ++i) {
      const std::uint32_t call = builder_.AddApi(now_, now_ + 10, "cudaLaunchKernel", thread);
      builder_.AddKernel(now_ + 100, now_ + 100 + kKernel, name, call);
      now_ += kKernel + 1'000;
    }
  }
  void Train(int times = 1) {
    for (int i = 0; i < times; ++i) {
      Launch(kForward, 4);
      Launch(kBackward, 4);
      Launch(kOptimizer);
      Mark();
    }
  }
  void Mark() { builder_.AddStepMark(now_ - 1); }
  void Wait(TimeNs length) { now_ += length; }
  void Save(TimeNs length) {
    builder_.AddSpan(now_, now_ + length, HostSpanKind::kCheckpoint);
    now_ += length;
  }
  void Fetch(std::int64_t bytes, TimeNs length) {
    builder_.AddCopy(now_, now_ + length, {.bytes = bytes, .kind = 2, .src_kind = 3, .dst_kind = 1},
                     builder_.AddApi(now_, now_ + length, "cudaMemcpyAsync"));
    now_ += length;
  }
  void Allocate(TimeNs length) {
    builder_.AddApi(now_, now_ + length, "cudaMalloc");
    now_ += length;
  }
  Rank& rank() {
    builder_.rank().end = now_;
    return builder_.rank();
  }

  // Names of the kinds of the steps that are not regular, in order, with their numbers.
  std::string Unusual() {
    const Device& device = rank().devices[0];
    const Steps steps = FindSteps(rank(), device, {0, now_});
    const std::vector<StepKind> kinds = KindsOfSteps(rank(), device, steps);
    EXPECT_EQ(kinds.size(), steps.steps.size());
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      EXPECT_EQ(kinds[i] == StepKind::kRegular, steps.steps[i].regular());
      if (kinds[i] != StepKind::kRegular)
        text += std::to_string(steps.first + i) + " " + std::string(StepKindName(kinds[i])) + ";";
    }
    return text;
  }

 private:
  RankBuilder builder_;
  TimeNs now_ = 1'000;
};

TEST(StepKindsTest, AllAreRegularWhereNothingIsUnusual) {
  Program program;
  program.Train(20);
  EXPECT_EQ(program.Unusual(), "");
}

// The first mark begins the first step, so the n-th training step is step n - 1.
TEST(StepKindsTest, ASavedProgramIsACheckpoint) {
  Program program;
  program.Train(12);
  program.Save(5 * kKernel);
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "12 checkpoint;");
}

TEST(StepKindsTest, AShortSaveDoesNotExplainALongPause) {
  Program program;
  program.Train(12);
  program.Save(kKernel);
  program.Wait(9 * kKernel);
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "12 irregular;");
}

TEST(StepKindsTest, FetchedWeightsAreACheckpointWhereNothingWasRecordedOfIt) {
  Program few, many;
  for (Program* program : {&few, &many}) {
    program->Train(12);
    program->Fetch(program == &few ? 1'000 : 500'000'000, 5 * kKernel);
    program->Train(12);
  }
  EXPECT_EQ(few.Unusual(), "12 irregular;");
  EXPECT_EQ(many.Unusual(), "12 checkpoint;");
}

TEST(StepKindsTest, ForwardWorkBetweenTwoStepsIsEvaluation) {
  Program program;
  program.Train(12);
  program.Launch(kForward, 40);
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "12 evaluation;");
}

// Some programs step an optimizer that has nothing to do, or mark steps by ranges.
TEST(StepKindsTest, AStepWithoutTrainingIsEvaluation) {
  Program program;
  program.Train(12);
  for (int i = 0; i < 2; ++i) {
    program.Launch(kForward, 4);
    program.Mark();
  }
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "12 evaluation;13 evaluation;");
}

TEST(StepKindsTest, MoreOfAllWorkIsNoEvaluation) {
  Program program;
  program.Train(12);
  program.Launch(kForward, 8);
  program.Launch(kBackward, 8);  // gradients of three batches
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "12 irregular;");
}

TEST(StepKindsTest, WhereTrainingIsNotToBeToldNoStepIsEvaluation) {
  Program program;
  const auto train = [&] {
    program.Launch(kForward, 8);
    program.Mark();
  };
  for (int i = 0; i < 12; ++i) train();
  program.Launch(kForward, 40);
  for (int i = 0; i < 12; ++i) train();
  EXPECT_EQ(program.Unusual(), "12 irregular;");
}

// Names of kernels often do not report; the thread does.
TEST(StepKindsTest, ThreadsOfAutogradRunBackwardPasses) {
  Program program;
  program.rank().threads[1].name = "pt_autograd_0";
  const auto train = [&] {
    program.Launch(kForward, 4);
    program.Launch(kForward, 8, 1);
    program.Mark();
  };
  for (int i = 0; i < 12; ++i) train();
  program.Launch(kForward, 40);
  for (int i = 0; i < 12; ++i) train();
  EXPECT_EQ(program.Unusual(), "12 evaluation;");
}

TEST(StepKindsTest, TheFirstStepsWarmUp) {
  Program program;
  program.Train(1);
  program.Wait(50 * kKernel);
  program.Train(3);
  program.Launch("benchmark_of_an_algorithm", 20);  // among the first, and in no later step
  program.Train(2);
  program.Allocate(20 * kKernel);
  program.Train(2);
  program.Wait(20 * kKernel);  // nothing tells why
  program.Train(12);
  program.Launch("benchmark_of_an_algorithm", 20);  // too late to be warm-up
  program.Train(12);
  EXPECT_EQ(program.Unusual(), "1 warm-up;4 warm-up;6 warm-up;8 irregular;20 irregular;");
}

}  // namespace
}  // namespace traceinject
