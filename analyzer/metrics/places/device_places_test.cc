// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/device_places.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/metrics/places/code_rows.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr int kSteps = 200;

// Steps of 20 ms: host code of two lines in turns, then one kernel of 4 ms. Sampled at about 100 Hz
// at moments that follow no rhythm of the steps.
class DevicePlacesTest : public testing::Test {
 protected:
  // Of the 16 ms between launches, the first so many are at the slow line.
  void AddSteps(TimeNs slow_ns, unsigned seed = 1) {
    slow_ns_ = slow_ns;
    slow_ = builder_.AddStack({{"main", "/w/train.py", 9},
                               {"load", "/w/train.py", 41},
                               {"choice", "/usr/lib/python3.11/random.py", 5}});
    quick_ = builder_.AddStack({{"main", "/w/train.py", 10}});
    for (int step = 0; step < kSteps; ++step) {
      const TimeNs start = step * 20 * kMs;
      const auto launch =
          builder_.AddApi(start + 16 * kMs, start + 16 * kMs + 5'000, "cudaLaunchKernel");
      builder_.AddKernel(start + 16 * kMs + 10'000, start + 20 * kMs + 10'000, "gemm", launch);
      builder_.AddStepMark(start + 16 * kMs + 6'000);
    }
    std::mt19937 random(seed);
    std::uniform_int_distribution<TimeNs> jitter(0, 10 * kMs - 1);
    for (TimeNs at = 0; at < kSteps * 20 * kMs; at += 10 * kMs) Look(at + jitter(random));
  }
  void Look(TimeNs at) { builder_.AddLook(at, at % (20 * kMs) < slow_ns_ ? slow_ : quick_); }
  std::optional<DevicePlaces> Find() {
    const Rank& rank = builder_.rank();
    const Device& device = rank.devices.front();
    judged_ = FindStepsAndTimeline(rank, device, {{0, kSteps * 20 * kMs + 10'000}, false});
    judged_.kinds = KindsOfSteps(rank, device, judged_.steps);
    JudgeSteps(UsualSteps(judged_.kinds, judged_.steps), judged_.steps);
    return FindDevicePlaces(judged_);
  }
  std::string Text(const PlaceTime& time) const {
    return PlaceText(*judged_.rank, time.site.place);
  }

  RankBuilder builder_;
  DeviceAnalysis judged_;
  TimeNs slow_ns_ = 0;
  std::uint32_t slow_ = kNone, quick_ = kNone;
};

TEST_F(DevicePlacesTest, LinesThatTheDeviceWaitsFor) {
  AddSteps(12 * kMs);
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& late = found->late;
  ASSERT_EQ(late.places.size(), 2U);
  EXPECT_EQ(Text(late.places[0]), "train.py:41 in load");
  EXPECT_EQ(LibraryText(*judged_.rank, late.places[0].site.library), "choice of random.py");
  EXPECT_EQ(Text(late.places[1]), "train.py:10 in main");
  EXPECT_NEAR(static_cast<double>(late.total_ns) / found->steps, 16.0 * kMs, 0.1 * kMs);
  EXPECT_NEAR(late.places[0].ns / found->steps, 12.0 * kMs, 1.0 * kMs);
  EXPECT_GT(found->stretches.total_ns, late.total_ns * 9 / 10);
  EXPECT_EQ(found->of(IdleCause::kSync).total_ns, 0);
}

// Two workers deliver two batches at once: every second step waits for data.
TEST_F(DevicePlacesTest, IrregularStepsThatRecurCount) {
  const auto load = builder_.AddStack({{"load", "/w/train.py", 41}});
  TimeNs start = 0;
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs wait = step % 2 == 0 ? 30 * kMs : 1 * kMs;
    for (TimeNs at = start + kMs / 2; at < start + wait; at += kMs) builder_.AddLook(at, load);
    const auto launch = builder_.AddApi(start + wait, start + wait + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + wait + 10'000, start + wait + kMs, "gemm", launch);
    builder_.AddStepMark(start + wait + 6'000);
    start += wait + kMs;
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  ASSERT_LT(judged_.steps.count_regular(), judged_.steps.steps.size());
  EXPECT_GT(found->late.total_ns, static_cast<TimeNs>(judged_.steps.steps.size()) * 14 * kMs);
}

// The truth lies in the interval as often as it says, for any share.
TEST_F(DevicePlacesTest, PlantedSharesLieInTheirIntervals) {
  int held = 0, all = 0;
  for (const TimeNs slow_ns : {2 * kMs, 6 * kMs, 9 * kMs, 14 * kMs}) {
    for (unsigned seed = 0; seed < 25; ++seed, ++all) {
      builder_ = RankBuilder();
      AddSteps(slow_ns, seed);
      const auto found = Find();
      ASSERT_TRUE(found.has_value());
      for (const PlaceTime& time : found->stretches.places) {
        if (Text(time) != "train.py:41 in load") continue;
        const double truth = static_cast<double>(slow_ns) * found->steps;
        held += time.low_ns <= truth && truth <= time.high_ns;
      }
    }
  }
  EXPECT_GE(held, all * 9 / 10);
}

TEST_F(DevicePlacesTest, StacksOfCallsAreExact) {
  const auto item = builder_.AddStack({{"main", "/w/train.py", 77}});
  const auto other = builder_.AddStack({{"main", "/w/train.py", 3}});
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs start = step * 20 * kMs;
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 10'000, start + 5 * kMs, "gemm", launch);
    builder_.AddStepMark(start + 6'000);
    const auto wait = builder_.AddApi(start + 8'000, start + 15 * kMs, "cudaStreamSynchronize");
    builder_.AddLook(start + 8'000, item, StackKind::kCall, builder_.rank().api.correlation[wait]);
    builder_.AddLook(start + 9 * kMs, other);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& waits = found->waits;
  ASSERT_FALSE(waits.places.empty());
  EXPECT_EQ(Text(waits.places[0]), "train.py:77 in main");
  EXPECT_DOUBLE_EQ(waits.places[0].low_ns, waits.places[0].high_ns);
  const TimeByPlace& idle = found->of(IdleCause::kSync);
  ASSERT_FALSE(idle.places.empty());
  EXPECT_EQ(Text(idle.places[0]), "train.py:77 in main");
  EXPECT_EQ(idle.looks, 0);
}

// A thread without Python launches while the main thread stands in one line.
TEST_F(DevicePlacesTest, WhatAutogradLaunchesIsOfTheLineThatWaits) {
  const auto forward = builder_.AddStack({{"main", "/w/train.py", 8}});
  const auto backward = builder_.AddStack({{"main", "/w/train.py", 9}});
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs start = step * 20 * kMs;
    const auto one = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 10'000, start + 5 * kMs, "gemm", one);
    builder_.AddLook(start, forward, StackKind::kLaunch, builder_.rank().api.correlation[one]);
    builder_.AddStepMark(start + 6'000);
    for (int i = 0; i < 20; ++i) {
      const TimeNs at = start + 8 * kMs + i * 200'000;
      const auto other = builder_.AddApi(at, at + 5'000, "cudaLaunchKernel", 1);
      builder_.AddKernel(at + kMs, at + kMs + 200'000, "dgrad", other);
      builder_.AddLook(at, kNone, StackKind::kLaunch, builder_.rank().api.correlation[other], 1);
    }
    builder_.AddLook(start + kMs, forward);
    builder_.AddLook(start + 9 * kMs, backward);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->backward.places.size(), 1U);
  EXPECT_EQ(Text(found->backward.places[0]), "train.py:9 in main");
  EXPECT_NEAR(found->backward.places[0].ns / found->steps, 4.0 * kMs, 0.2 * kMs);
  EXPECT_EQ(found->backward.unknown_ns, 0);
}

// The call was looked at, as its own stack is not there; what the host did next is not what the
// device waited for.
TEST_F(DevicePlacesTest, AfterAWaitTimeBelongsToTheWait) {
  const auto item = builder_.AddStack({{"main", "/w/train.py", 77}});
  const auto other = builder_.AddStack({{"main", "/w/train.py", 3}});
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs start = step * 20 * kMs;
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 10'000, start + 15 * kMs, "gemm", launch);
    builder_.AddStepMark(start + 6'000);
    builder_.AddApi(start + 8'000, start + 15 * kMs + 5'000, "cudaStreamSynchronize");
    if (step % 2 == 0) builder_.AddLook(start + 7 * kMs, item);
    builder_.AddLook(start + 16 * kMs, other);
    builder_.AddLook(start + 18 * kMs, other);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& drained = found->of(IdleCause::kDrainedBySync);
  ASSERT_EQ(drained.places.size(), 1U);
  EXPECT_EQ(Text(drained.places[0]), "train.py:77 in main");
  EXPECT_NEAR(static_cast<double>(drained.total_ns) / found->steps, 5.0 * kMs, 0.1 * kMs);
  ASSERT_EQ(found->after_waits.places.size(), 1U);
  EXPECT_EQ(Text(found->after_waits.places[0]), "train.py:3 in main");
  // Of single ones where that call was looked at.
  int known = 0;
  const auto pieces = ExplainIdle(builder_.rank(), builder_.rank().devices.front(),
                                  judged_.timeline, judged_.steps, {0, kSteps * 20 * kMs});
  VisitIdlePlaces(judged_, pieces, [&](const IdlePiece& piece, const IdlePlaces& of_piece) {
    if (piece.cause != IdleCause::kDrainedBySync || of_piece.places.places.empty()) return;
    EXPECT_EQ(Text(of_piece.places.places[0]), "train.py:77 in main");
    ++known;
  });
  EXPECT_GE(known, kSteps / 2 - 1);
}

// Every third launch has a stack, and two lines launch the same kernel.
// Each by itself, with the lines that it is due to.
TEST_F(DevicePlacesTest, SinglePiecesOfIdleTime) {
  AddSteps(12 * kMs);
  ASSERT_TRUE(Find().has_value());
  const Interval all = {0, kSteps * 20 * kMs};
  const std::vector<IdlePiece> pieces = ExplainIdle(
      builder_.rank(), builder_.rank().devices.front(), judged_.timeline, judged_.steps, all);
  int late = 0, slow = 0;
  TimeNs total = 0;
  VisitIdlePlaces(judged_, pieces, [&](const IdlePiece& piece, const IdlePlaces& found) {
    total += found.places.total_ns;
    EXPECT_EQ(found.thread, 0U);
    if (piece.time.end - piece.time.start < 15 * kMs) return;
    ++late;
    slow += !found.places.places.empty() && Text(found.places.places[0]) == "train.py:41 in load";
  });
  EXPECT_GT(late, kSteps / 2);
  EXPECT_GT(slow, late * 6 / 10);
  TimeNs idle = 0;
  for (const IdlePiece& piece : pieces) idle += piece.time.end - piece.time.start;
  EXPECT_EQ(total, idle);
}

TEST_F(DevicePlacesTest, KernelTimeByTheLineThatLaunched) {
  const auto one = builder_.AddStack({{"forward", "/w/model.py", 5}});
  const auto two = builder_.AddStack({{"forward", "/w/model.py", 6}});
  std::mt19937 random(3);
  std::bernoulli_distribution has_stack(0.3);
  for (int i = 0; i < 2000; ++i) {
    const TimeNs start = i * kMs;
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 10'000, start + 400'000, "gemm", launch);
    if (has_stack(random))
      builder_.AddLook(start, i % 4 == 0 ? one : two, StackKind::kLaunch,
                       builder_.rank().api.correlation[launch]);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& kernels = found->kernels;
  ASSERT_EQ(kernels.places.size(), 2U);
  EXPECT_EQ(Text(kernels.places[0]), "model.py:6 in forward");
  EXPECT_NEAR(kernels.places[0].ns, 0.75 * static_cast<double>(kernels.total_ns),
              0.06 * static_cast<double>(kernels.total_ns));
  EXPECT_LT(kernels.places[0].low_ns, kernels.places[0].ns);
  EXPECT_EQ(kernels.unknown_ns, 0);
}

// Two products of one grid, by one kernel: the second sums over four times the length.
TEST_F(DevicePlacesTest, LaunchesWithAStackCountByTheTimeOfTheirKernels) {
  const auto one = builder_.AddStack({{"forward", "/w/model.py", 5}});
  const auto two = builder_.AddStack({{"forward", "/w/model.py", 6}});
  std::mt19937 random(3);
  std::bernoulli_distribution has_stack(0.3);
  for (int i = 0; i < 2000; ++i) {
    const TimeNs start = i * kMs;
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    const bool second = i % 2 == 1;
    builder_.AddKernel(start + 10'000, start + (second ? 410'000 : 110'000), "gemm", launch);
    if (has_stack(random))
      builder_.AddLook(start, second ? two : one, StackKind::kLaunch,
                       builder_.rank().api.correlation[launch]);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& kernels = found->kernels;
  ASSERT_EQ(kernels.places.size(), 2U);
  EXPECT_EQ(Text(kernels.places[0]), "model.py:6 in forward");
  EXPECT_NEAR(kernels.places[0].ns, 0.8 * static_cast<double>(kernels.total_ns),
              0.03 * static_cast<double>(kernels.total_ns));
}

// Kernels of 4 layers of two modules each, and one outside of them all.
TEST_F(DevicePlacesTest, RowsOfModules) {
  std::vector<std::uint32_t> stacks = {builder_.AddStack({{"main", "/w/train.py", 9}})};
  for (const char* layer : {"0", "1", "2", "13"}) {
    for (const char* part : {"attn", "mlp"}) {
      const std::string block = std::string("Net.h.") + layer;
      stacks.push_back(builder_.AddStack({{"main", "/w/train.py", 9},
                                          {"_call_impl", "/w/module.py", 5, block},
                                          {"_call_impl", "/w/module.py", 5, block + "." + part}}));
    }
  }
  for (std::size_t i = 0; i < 900; ++i) {
    const TimeNs start = static_cast<TimeNs>(i) * kMs;
    const std::uint32_t stack = stacks[i % stacks.size()];
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    const bool is_mlp = i % stacks.size() != 0 && i % stacks.size() % 2 == 0;
    builder_.AddKernel(start + 10'000, start + (is_mlp ? 410'000 : 110'000),
                       is_mlp ? "large" : "small", launch);
    builder_.AddLook(start, stack, StackKind::kLaunch, builder_.rank().api.correlation[launch]);
  }
  ASSERT_TRUE(Find().has_value());
  const auto places = FindDevicePlaces(judged_, SiteFrame::kModule);
  const auto kernel_ms = [&](CodeGrouping grouping) {
    std::map<std::string, double> found;
    for (const CodeRow& row : RowsOfCode(judged_, *places, grouping)) {
      if (row.kernel_ns > 0) found[row.module] = std::round(row.kernel_ns / kMs);
    }
    return found;
  };
  const auto together = kernel_ms(CodeGrouping::kModules);
  ASSERT_EQ(together.size(), 3U);
  EXPECT_NEAR(together.at(""), 10, 1);
  EXPECT_NEAR(together.at("Net.h.*.attn"), 40, 2);
  EXPECT_NEAR(together.at("Net.h.*.mlp"), 160, 4);
  const auto each = kernel_ms(CodeGrouping::kEachModule);
  EXPECT_EQ(each.size(), 9U);
  EXPECT_NEAR(each.at("Net.h.13.mlp"), 40, 2);
}

// Of what a library launches out of sight no stack is taken; those that the thread had a little
// before and after tell where it stood.
TEST_F(DevicePlacesTest, LaunchesWithoutStacksAreOfTheLineNearby) {
  const auto attend = builder_.AddStack({{"attend", "/w/model.py", 5}});
  const auto other = builder_.AddStack({{"forward", "/w/model.py", 9}});
  for (int i = 0; i < 500; ++i) {
    const TimeNs start = i * kMs;
    const auto near = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 10'000, start + 20'000, "unpack", near);
    if (i % 20 == 0)
      builder_.AddLook(start, attend, StackKind::kLaunch, builder_.rank().api.correlation[near]);
    const auto hidden = builder_.AddApi(start + 8'000, start + 14'000, "cuLaunchKernelEx");
    builder_.AddKernel(start + 20'000, start + 420'000, "flash_fprop", hidden);
    builder_.AddLook(start + 300'000, other);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->kernels.places.size(), 1U);
  EXPECT_EQ(Text(found->kernels.places[0]), "model.py:5 in attend");
  EXPECT_DOUBLE_EQ(found->kernels.places[0].ns, static_cast<double>(found->kernels.total_ns));
}

// The backward pass runs on a thread without Python, here with the kernels of the forward pass.
TEST_F(DevicePlacesTest, KernelsOfThreadsWithoutPythonAreOfNoLine) {
  const auto line = builder_.AddStack({{"forward", "/w/model.py", 5}});
  for (int i = 0; i < 100; ++i) {
    const TimeNs start = i * kMs;
    const std::uint32_t thread = i % 2;
    const auto launch = builder_.AddApi(start, start + 5'000, "cudaLaunchKernel", thread);
    builder_.AddKernel(start + 10'000, start + 400'000, "gemm", launch);
    if (i % 4 == 0)
      builder_.AddLook(start, line, StackKind::kLaunch, builder_.rank().api.correlation[launch]);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  const TimeByPlace& kernels = found->kernels;
  ASSERT_EQ(kernels.places.size(), 1U);
  EXPECT_DOUBLE_EQ(kernels.places[0].ns, static_cast<double>(kernels.total_ns) / 2);
  EXPECT_EQ(kernels.unknown_ns, kernels.total_ns / 2);
  EXPECT_DOUBLE_EQ(kernels.places[0].high_ns, kernels.places[0].ns);
  EXPECT_LT(kernels.places[0].low_ns, kernels.places[0].ns);
}

TEST_F(DevicePlacesTest, WorkersThatAreAtWork) {
  builder_.rank().threads.push_back({900, "worker"});
  builder_.rank().workers.push_back({.pid = 900});
  const auto decode = builder_.AddStack({{"__getitem__", "/w/data.py", 12}});
  const auto idle =
      builder_.AddStack({{"get", "/usr/lib/python3.11/multiprocessing/queues.py", 103}});
  for (int step = 0; step < kSteps; ++step) {
    const TimeNs start = step * 20 * kMs;
    builder_.AddDataWait(start, start + 10 * kMs);
    const auto launch =
        builder_.AddApi(start + 11 * kMs, start + 11 * kMs + 5'000, "cudaLaunchKernel");
    builder_.AddKernel(start + 12 * kMs, start + 20 * kMs, "gemm", launch);
    builder_.AddStepMark(start + 13 * kMs);
    builder_.AddLook(start + 3 * kMs, decode, StackKind::kTimed, 0, 2);
    builder_.AddLook(start + 5 * kMs, idle, StackKind::kTimed, 0, 2);
  }
  const auto found = Find();
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->workers.places.size(), 1U);
  EXPECT_EQ(Text(found->workers.places[0]), "data.py:12 in __getitem__");
  EXPECT_EQ(found->workers.total_ns, found->of(IdleCause::kDataWait).total_ns);
}

TEST_F(DevicePlacesTest, NoStacksNoPlaces) {
  const auto launch = builder_.AddApi(0, 5'000, "cudaLaunchKernel");
  builder_.AddKernel(10'000, kMs, "gemm", launch);
  EXPECT_FALSE(Find().has_value());
}

}  // namespace
}  // namespace traceinject
