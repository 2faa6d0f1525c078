// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/graph_steps.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr TimeNs kEager = 40'000, kReplay = 20'000;  // lengths of steps

// Steps that are launched kernel by kernel, and steps that are replayed.
class Program {
 public:
  void Launch(TimeNs length, const std::string& kernel = "ampere_sgemm_128x64_nn") {
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'000, "cudaLaunchKernel");
    builder_.AddKernel(host_ + 2'000, host_ + 2'000 + length, kernel, call);
    nodes_.push_back(kNone);
    host_ += length + 5'000;
  }
  void EagerStep() {
    Launch(kEager - 10'000);
    builder_.AddStepMark(host_ - 5'000);
    host_ += 5'000;
  }
  void Replay(std::uint32_t graph = 0, bool optimizer = true) {
    const std::uint32_t call = builder_.AddApi(host_, host_ + 1'000, "cudaGraphLaunch");
    builder_.AddKernel(host_ + 2'000, host_ + 12'000, "ampere_sgemm_128x64_nn", call);
    builder_.AddKernel(host_ + 12'000, host_ + 15'000, optimizer ? "FusedAdamKernel" : "softmax",
                       call);
    nodes_.insert(nodes_.end(), 2, graph);
    host_ += kReplay;
  }
  Rank& rank() {
    PackedColumn<std::uint32_t> column;
    for (const std::uint32_t node : nodes_) column.push_back(node);
    builder_.ops().graph_node = std::move(column);
    builder_.rank().graph_nodes = {{7, 1}, {8, 1}};
    return builder_.rank();
  }
  std::optional<StructureSteps> Find() { return FindGraphSteps(rank(), rank().devices[0].ops); }
  Steps FindAll() {
    const GpuOps& ops = rank().devices[0].ops;
    return FindSteps(builder_.rank(), builder_.rank().devices[0],
                     {ops.start.front(), ops.end.back()});
  }
  RankBuilder& builder() { return builder_; }

 private:
  RankBuilder builder_;
  std::vector<std::uint32_t> nodes_;
  TimeNs host_ = 1'000;
};

TEST(GraphSteps, AReplayEndsAStep) {
  Program program;
  for (int i = 0; i < 10; ++i) {
    program.Launch(2'000, "copy_kernel");
    program.Replay();
  }
  const auto found = program.Find();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->cuts.size(), 10U);
  EXPECT_EQ(found->cuts[1] - found->cuts[0], kReplay + 7'000);
  EXPECT_GT(found->confidence, 0.9);
}

TEST(GraphSteps, OnlyOfAGraphThatUpdatesParameters) {
  Program layers, few, beside;
  for (int i = 0; i < 10; ++i) layers.Replay(0, false);
  EXPECT_FALSE(layers.Find().has_value());
  for (int i = 0; i < 3; ++i) few.Replay();
  EXPECT_FALSE(few.Find().has_value());
  for (int i = 0; i < 10; ++i) beside.Replay();
  for (int i = 0; i < 10; ++i) beside.EagerStep();
  EXPECT_FALSE(beside.Find().has_value()) << "most of the work is elsewhere";
}

TEST(GraphSteps, OfSeveralGraphsTheLongest) {
  Program program;
  for (int i = 0; i < 5; ++i) program.Replay(1);
  for (int i = 0; i < 10; ++i) program.Replay(0);
  const auto found = program.Find();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->cuts.size(), 10U);
}

// The optimizer marks the steps before the capture and the capture, then no more.
TEST(GraphSteps, MarksOfTheWarmUpAreNotTheSteps) {
  Program program;
  for (int i = 0; i < 4; ++i) program.EagerStep();
  for (int i = 0; i < 30; ++i) program.Replay();
  const Steps found = program.FindAll();
  EXPECT_EQ(found.source, StepSource::kStructure);
  EXPECT_EQ(found.steps.size(), 29U);
  EXPECT_EQ(found.median_ns, kReplay);
}

TEST(GraphSteps, MarksBeforeAndAfterTheReplaysAreNotTheSteps) {
  Program program;
  for (int i = 0; i < 4; ++i) program.EagerStep();
  for (int i = 0; i < 30; ++i) program.Replay();
  for (int i = 0; i < 2; ++i) program.EagerStep();
  EXPECT_EQ(program.FindAll().median_ns, kReplay);
}

TEST(GraphSteps, MarksOfMostStepsStay) {
  Program program;
  for (int i = 0; i < 30; ++i) program.EagerStep();
  for (int i = 0; i < 20; ++i) program.Replay();
  const Steps found = program.FindAll();
  EXPECT_EQ(found.source, StepSource::kMarks);
  EXPECT_EQ(found.steps.size(), 29U);
}

}  // namespace
}  // namespace traceinject
