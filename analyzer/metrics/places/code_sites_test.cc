// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/code_sites.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr char kTorch[] = "/opt/conda/lib/python3.11/site-packages/torch/_tensor.py";
constexpr char kNumpy[] = "/usr/lib/python3/dist-packages/numpy/core/numeric.py";
constexpr char kThreading[] = "/usr/lib/python3.12/threading.py";
constexpr char kProcess[] = "/usr/lib/python3.12/multiprocessing/process.py";

TEST(CodeSites, LibrariesByTheirFile) {
  for (const char* file : {kTorch, kNumpy, kThreading, "/usr/local/lib/python3.13t/json/decoder.py",
                           "<frozen importlib._bootstrap>", "/tmp/torchinductor_me/ab/cab.py",
                           "<eval_with_key>.3", "/usr/lib/python311.zip/random.py"})
    EXPECT_TRUE(IsLibraryFile(file)) << file;
  for (const char* file : {"train.py", "/home/me/python3/train.py", "<stdin>", "<string>",
                           "/data/lib/model.py", "/home/me/python3.11/train.py", ""})
    EXPECT_FALSE(IsLibraryFile(file)) << file;
}

TEST(CodeSites, TheInnermostFrameOfTheProgram) {
  RankBuilder builder;
  const auto stack = builder.AddStack({{"<module>", "/w/train.py", 90},
                                       {"__call__", kTorch, 5},
                                       {"forward", "/w/model.py", 41},
                                       {"dropout", kTorch, 7},
                                       {"helper", kTorch, 8}});
  const CodeSites sites(builder.rank());
  const CodeSite site = sites.Of(stack);
  EXPECT_TRUE(site.own);
  EXPECT_EQ(PlaceText(builder.rank(), site.place), "model.py:41 in forward");
  EXPECT_EQ(LibraryText(builder.rank(), site.library), "dropout of torch/_tensor.py");
  EXPECT_EQ(sites.Of(kNone).place, kNone);
}

TEST(CodeSites, TheInnermostFrameOfAllWhereItIsAskedFor) {
  RankBuilder builder;
  const auto inside = builder.AddStack({{"forward", "/w/model.py", 41}, {"dropout", kTorch, 7}});
  const auto own = builder.AddStack({{"forward", "/w/model.py", 41}});
  const CodeSites sites(builder.rank(), SiteFrame::kInnermost);
  EXPECT_EQ(PlaceText(builder.rank(), sites.Of(inside).place), "torch/_tensor.py:7 in dropout");
  EXPECT_FALSE(sites.Of(inside).own);
  EXPECT_EQ(sites.Of(inside).library, kNone);
  EXPECT_TRUE(sites.Of(own).own);
}

TEST(CodeSites, TheInnermostModule) {
  RankBuilder builder;
  const auto stack = builder.AddStack({{"main", "/w/train.py", 9},
                                       {"_call_impl", kTorch, 5, "Net"},
                                       {"forward", "/w/model.py", 41},
                                       {"_call_impl", kTorch, 5, "Net.fc"},
                                       {"forward", kTorch, 7}});
  const auto outside = builder.AddStack({{"main", "/w/train.py", 10}});
  const CodeSites sites(builder.rank(), SiteFrame::kModule);
  EXPECT_EQ(builder.rank().string(sites.Of(stack).module), "Net.fc");
  EXPECT_EQ(sites.Of(stack).place, kNone) << "a module is no place";
  EXPECT_EQ(sites.Of(outside).module, kNone);
}

TEST(CodeSites, FunctionsOfMachineCode) {
  RankBuilder builder;
  const auto stack = builder.AddStack({{"_start", "/w/train", 0},
                                       {"main", "/w/train", 0},
                                       {"model::forward", "/w/train", 0},
                                       {"gemm_kernel", "/w/train", 0},
                                       {"cudaLaunchKernel", "/w/libcudart.so.13", 0}});
  const auto strange = builder.AddStack({{"start_thread", "/usr/lib/libc.so.6", 0}});
  const auto unnamed = builder.AddStack({{"train+0x12a0", "/w/train", 0}});
  Rank& rank = builder.rank();
  for (CodePlace& place : rank.places) {
    place.is_native = true;
    const std::string_view function = rank.string(place.function);
    place.is_library = function == "gemm_kernel" || rank.string(place.file) != "/w/train";
  }
  const CodeSites sites(rank);
  EXPECT_TRUE(sites.Of(stack).own);
  EXPECT_EQ(PlaceText(rank, sites.Of(stack).place), "model::forward in train");
  EXPECT_EQ(LibraryText(rank, sites.Of(stack).library), "gemm_kernel of train");
  EXPECT_EQ(FrameText(rank, sites.Of(stack).place), "model::forward (train)");
  EXPECT_FALSE(sites.Of(strange).own);
  EXPECT_EQ(PlaceText(rank, sites.Of(unnamed).place), "train+0x12a0");
  EXPECT_EQ(PlaceText(rank, CodeSites(rank, SiteFrame::kInnermost).Of(stack).place),
            "cudaLaunchKernel in libcudart.so.13");
}

TEST(CodeSites, ExpressionsArePartOfTheirLine) {
  RankBuilder builder;
  const auto inside = builder.AddStack({{"load", "/w/data.py", 20},
                                        {"load.<locals>.<listcomp>", "/w/data.py", 21},
                                        {"random", kNumpy, 7}});
  const auto elsewhere = builder.AddStack(
      {{"load", "/w/data.py", 20}, {"sum", kNumpy, 7}, {"total.<genexpr>", "/w/data.py", 30}});
  const CodeSites sites(builder.rank());
  EXPECT_EQ(PlaceText(builder.rank(), sites.Of(inside).place), "data.py:20 in load");
  EXPECT_EQ(LibraryText(builder.rank(), sites.Of(inside).library),
            "random of numpy/core/numeric.py");
  EXPECT_EQ(PlaceText(builder.rank(), sites.Of(elsewhere).place), "data.py:30 in total.<genexpr>");
}

TEST(CodeSites, WithoutOwnCodeTheInnermostFrame) {
  RankBuilder builder;
  const auto stack = builder.AddStack({{"_bootstrap", kThreading, 1}, {"wait", kThreading, 2}});
  const CodeSite site = CodeSites(builder.rank()).Of(stack);
  EXPECT_FALSE(site.own);
  EXPECT_EQ(PlaceText(builder.rank(), site.place), "threading.py:2 in wait");
}

// A forked worker still has the frames of the program that started it.
TEST(CodeSites, AForkedProcessBeginsAnew) {
  RankBuilder builder;
  const auto idle = builder.AddStack(
      {{"<module>", "/w/train.py", 9}, {"_bootstrap", kProcess, 314}, {"get", kProcess, 2}});
  const auto busy = builder.AddStack({{"<module>", "/w/train.py", 9},
                                      {"_bootstrap", kProcess, 314},
                                      {"__getitem__", "/w/data.py", 12}});
  const CodeSites sites(builder.rank());
  EXPECT_FALSE(sites.Of(idle).own);
  EXPECT_EQ(PlaceText(builder.rank(), sites.Of(idle).place), "multiprocessing/process.py:2 in get");
  EXPECT_EQ(PlaceText(builder.rank(), sites.Of(busy).place), "data.py:12 in __getitem__");
}

// As torch.profiler names them: without what is on Python's path.
TEST(CodeSites, LibrariesWithoutTheirFolders) {
  for (const char* library : {"torch/nn/modules/linear.py", "random.py", "numpy/core/numeric.py",
                              "multiprocessing/queues.py", "<built-in>", "<nn.Module>"})
    EXPECT_TRUE(IsLibraryFile(library)) << library;
  for (const char* own : {"train.py", "model/torch/layer.py", "randomness.py", "/w/random.py",
                          "datasets/coco.py", "torch", "data/random.py", ""})
    EXPECT_FALSE(IsLibraryFile(own)) << own;
}

TEST(CodeSites, WhatIsCalledOfCIsItsName) {
  RankBuilder builder;
  const auto stack = builder.AddStack({{"main", "train.py", 9}, {"choice", "<built-in>", 0}});
  const CodeSite site = CodeSites(builder.rank()).Of(stack);
  EXPECT_EQ(PlaceText(builder.rank(), site.place), "train.py:9 in main");
  EXPECT_EQ(LibraryText(builder.rank(), site.library), "choice");
}

}  // namespace
}  // namespace traceinject
