// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/levers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(LeversTest, EachCauseHasLeversWithASource) {
  for (const char* label : {"dataloader", "h2d_copy", "sync_bound", "allocator", "checkpoint",
                            "gc_pause", "launch_bound", "comm_exposed"}) {
    const std::vector<LeverRow> levers = LeversOf(label, Rank{});
    EXPECT_GE(levers.size(), 2U) << label;
    for (const LeverRow& lever : levers) {
      EXPECT_FALSE(lever.setting.empty()) << label;
      EXPECT_FALSE(lever.change.empty()) << label;
      EXPECT_NE(lever.source.find('.'), std::string_view::npos) << label;
    }
  }
}

TEST(LeversTest, HealthyAndUnknownHaveNone) {
  EXPECT_TRUE(LeversOf("compute_bound", Rank{}).empty());
  EXPECT_TRUE(LeversOf("inconclusive", Rank{}).empty());
}

bool Suggests(const Rank& rank, std::string_view setting, std::string_view label = "dataloader") {
  const std::vector<LeverRow> levers = LeversOf(label, rank);
  return std::any_of(levers.begin(), levers.end(),
                     [&](const LeverRow& lever) { return lever.setting == setting; });
}

TEST(LeversTest, WhatIsSetAlreadyIsNotSuggested) {
  Rank rank;
  EXPECT_TRUE(Suggests(rank, "DataLoader(pin_memory=True)"));  // no loader is known
  rank.loaders.resize(1);
  rank.loaders[0].pin_memory = true;
  EXPECT_FALSE(Suggests(rank, "DataLoader(pin_memory=True)"));
  rank.loaders.resize(2);
  EXPECT_TRUE(Suggests(rank, "DataLoader(pin_memory=True)"));
}

TEST(LeversTest, AFusedOptimizerIsNotSuggestedAgain) {
  Rank rank;
  rank.strings = {"multi_tensor_apply_kernel<TensorListMetadata<3>, PointwiseOpScalarFunctor>",
                  "multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, Functor>"};
  KernelShape& shape = rank.shapes.emplace_back();
  shape.kernel_class = KernelClass::kOptimizer;
  shape.name = 0;
  EXPECT_TRUE(Suggests(rank, "optimizer with fused=True", "launch_bound"));
  shape.name = 1;
  EXPECT_FALSE(Suggests(rank, "optimizer with fused=True", "launch_bound"));
}

TEST(LeversTest, NoOtherProfilerWhereStacksWereRecorded) {
  RankBuilder builder;
  EXPECT_TRUE(Suggests(builder.rank(), "Python between the launches", "launch_bound"));
  builder.AddLook(0, builder.AddStack({{"main", "/w/train.py", 1}}));
  EXPECT_FALSE(Suggests(builder.rank(), "Python between the launches", "launch_bound"));
}

// What the saving supposes comes first; what reaches a part of it says so.
TEST(LeversTest, GraphsSaveWhatLaunchingCosts) {
  const std::vector<LeverRow> levers = LeversOf("launch_bound", Rank{});
  ASSERT_GE(levers.size(), 3U);
  EXPECT_EQ(levers[0].facts, ProcessorsOf) << "only where threads have none";
  EXPECT_TRUE(levers[1].setting.starts_with("CUDA graphs"));
  EXPECT_EQ(levers[2].setting, "torch.compile(model)");
  EXPECT_NE(levers[2].change.find("saves a part"), std::string_view::npos);
}

TEST(LeversTest, OfTheFrameworkInTheProcess) {
  Rank rank;
  EXPECT_TRUE(Suggests(rank, "torch.compile(model)", "launch_bound"));
  rank.strings = {"/venv/lib/python3.12/site-packages/jax/_src/api.py",
                  "/venv/lib/python3.12/site-packages/torch/_tensor.py"};
  rank.places.push_back({.file = 0});
  EXPECT_FALSE(Suggests(rank, "torch.compile(model)", "launch_bound"));
  EXPECT_FALSE(Suggests(rank, "DataLoader(pin_memory=True)"));
  EXPECT_TRUE(Suggests(rank, "jax.jit around the whole step", "launch_bound"));
  rank.places.push_back({.file = 1});
  EXPECT_TRUE(Suggests(rank, "torch.compile(model)", "launch_bound"));
  EXPECT_FALSE(Suggests(rank, "jax.jit around the whole step", "launch_bound"));
}

TEST(LeversTest, AProgramWithoutPythonGetsThoseOfCuda) {
  Rank rank;
  constexpr const char* kWaits = "cudaDeviceSynchronize(), cudaStreamSynchronize(), cudaMemcpy()";
  constexpr const char* kFetches = ".item(), .cpu(), print(tensor), tensor.tolist()";
  EXPECT_FALSE(Suggests(rank, kWaits, "sync_bound")) << "it is not known what it is";
  rank.process.executable = "/usr/bin/python3.12";
  EXPECT_FALSE(Suggests(rank, kWaits, "sync_bound"));
  EXPECT_TRUE(Suggests(rank, kFetches, "sync_bound"));
  rank.process.executable = "/w/simulate";
  EXPECT_TRUE(Suggests(rank, kWaits, "sync_bound"));
  EXPECT_FALSE(Suggests(rank, kFetches, "sync_bound"));
  for (const char* label : {"dataloader", "h2d_copy", "sync_bound", "allocator", "launch_bound",
                            "evaluation", "low_precision_unused", "inefficient_gemm",
                            "unfused_attention", "memory_bound", "throttled"})
    EXPECT_FALSE(LeversOf(label, rank).empty()) << label;
  rank.step_marks.time.resize(1);
  EXPECT_TRUE(Suggests(rank, kFetches, "sync_bound")) << "PyTorch marked its steps";
}

}  // namespace
}  // namespace traceinject
