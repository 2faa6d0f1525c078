// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/host_flame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr int kFlameSteps = 100;
constexpr std::uint32_t kLate = kStateIdle + static_cast<std::uint32_t>(IdleCause::kHostWait);

// Steps of 20 ms: 12 ms in which the GPU waits for the host, then 8 ms in which it computes.
class HostFlameTest : public testing::Test {
 protected:
  HostFlameTest() {
    load_ = builder_.AddStack({{"main", "/w/train.py", 9},
                               {"load", "/w/train.py", 41},
                               {"choice", "/usr/lib/python3.11/random.py", 5}});
    train_ = builder_.AddStack({{"main", "/w/train.py", 9}, {"train", "/w/train.py", 60}});
    for (int step = 0; step < kFlameSteps; ++step) {
      const TimeNs start = step * 20 * kMs;
      const auto launch =
          builder_.AddApi(start + 12 * kMs, start + 12 * kMs + 1'000, "cudaLaunchKernel");
      builder_.AddKernel(start + 12 * kMs + 2'000, start + 20 * kMs, "gemm", launch);
      builder_.AddStepMark(start + 13 * kMs);
    }
  }
  // Of the main thread, in each step: three looks while the GPU waits, one while it computes.
  void AddLooks() {
    for (int step = 0; step < kFlameSteps; ++step) {
      const TimeNs start = step * 20 * kMs;
      builder_.AddLook(start + 2 * kMs, load_, StackKind::kTimed, 0, 0, 2, 6 * kMs);
      builder_.AddLook(start + 15 * kMs, train_);
    }
  }
  std::vector<HostFlame> Find(const FlameLimits& limits = {}) {
    const Rank& rank = builder_.rank();
    const Device& device = rank.devices.front();
    judged_ = FindStepsAndTimeline(rank, device, {{0, kFlameSteps * 20 * kMs}, false});
    return FindHostFlames(judged_, limits);
  }
  std::string Text(const FlameFrame& frame) const { return PlaceText(*judged_.rank, frame.place); }

  RankBuilder builder_;
  DeviceAnalysis judged_;
  std::uint32_t load_ = kNone, train_ = kNone;
};

TEST_F(HostFlameTest, CallersComeFirstAndWideFramesBeforeNarrowOnes) {
  AddLooks();
  const std::vector<HostFlame> flames = Find();
  ASSERT_EQ(flames.size(), 1U);
  const HostFlame& flame = flames[0];
  EXPECT_EQ(flame.thread, 0U);
  ASSERT_EQ(flame.frames.size(), 4U);
  const char* const wanted[] = {"train.py:9 in main", "train.py:41 in load",
                                "random.py:5 in choice", "train.py:60 in train"};
  const std::size_t depths[] = {0, 1, 2, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Text(flame.frames[i]), wanted[i]);
    EXPECT_EQ(flame.frames[i].depth, depths[i]);
    EXPECT_EQ(flame.frames[i].own, i != 2);
  }
  EXPECT_DOUBLE_EQ(flame.frames[0].looks, flame.looks);
  EXPECT_DOUBLE_EQ(flame.frames[1].looks, 3 * flame.frames[3].looks);
  EXPECT_EQ(flame.left_out, 0U);
}

TEST_F(HostFlameTest, EachFrameTellsWhatTheGpuDid) {
  AddLooks();
  const HostFlame flame = Find().at(0);
  const FlameFrame &all = flame.frames[0], &load = flame.frames[1], &train = flame.frames[3];
  EXPECT_DOUBLE_EQ(load.states[kLate], load.looks);
  EXPECT_DOUBLE_EQ(train.states[kStateCompute], train.looks);
  EXPECT_EQ(flame.states, all.states);
  EXPECT_DOUBLE_EQ(all.states[kLate] + all.states[kStateCompute], flame.looks);
}

// From the launch on the thread waits: its looks divide like the time.
TEST_F(HostFlameTest, ARunWithoutACallIsDividedLikeItsTime) {
  for (int step = 0; step < kFlameSteps; ++step)
    builder_.AddLook(step * 20 * kMs + 17 * kMs, train_, StackKind::kTimed, 0, 0, 9, 6 * kMs);
  const HostFlame flame = Find().at(0);
  EXPECT_NEAR(flame.frames.back().states[kStateCompute], flame.looks / 2, flame.looks / 1000);
  EXPECT_NEAR(flame.frames.back().states[kLate], flame.looks / 2, flame.looks / 1000);
}

// What was seen at one line in each of many steps was elsewhere between.
TEST_F(HostFlameTest, ARunWithCallsIsWhereItsEndsAre) {
  builder_.AddLook(45 * kMs, load_, StackKind::kTimed, 0, 0, 49, 1000 * kMs);
  const HostFlame flame = Find().at(0);
  EXPECT_DOUBLE_EQ(flame.looks, 50);
  EXPECT_DOUBLE_EQ(flame.frames[1].states[kLate], 50);
}

TEST_F(HostFlameTest, NarrowAndDeepFramesAreLeftOutAndCounted) {
  AddLooks();
  EXPECT_EQ(Find({.least_share = 0.3}).at(0).frames.size(), 3U);
  EXPECT_EQ(Find({.least_share = 0.3}).at(0).left_out, 1U);
  EXPECT_EQ(Find({.depth = 1}).at(0).left_out, 3U);
  EXPECT_LE(Find({.frames = 2}).at(0).frames.size(), 2U);
  for (int i = 0; i < 3'000; ++i) {
    const auto other = builder_.AddStack({{"one", "/w/many.py", i + 1}});
    builder_.AddLook(kFlameSteps / 2 * 20 * kMs + i, other, StackKind::kTimed, 0, 1);
  }
  EXPECT_LE(Find({.least_share = 0}).at(1).frames.size(), 600U);
}

TEST_F(HostFlameTest, TheThreadThatLaunchesComesFirst) {
  const auto worker = builder_.AddStack({{"decode", "/w/data.py", 3}});
  AddLooks();
  for (int i = 0; i < 10 * kFlameSteps; ++i)
    builder_.AddLook(i * 2 * kMs, worker, StackKind::kTimed, 0, 1);
  const std::vector<HostFlame> flames = Find();
  ASSERT_EQ(flames.size(), 2U);
  EXPECT_EQ(flames[0].thread, 0U);
  EXPECT_EQ(flames[1].thread, 1U);
  EXPECT_GT(flames[1].looks, flames[0].looks);
  EXPECT_EQ(Find({.threads = 1}).size(), 1U);
}

TEST_F(HostFlameTest, NoStacksNoFlames) { EXPECT_TRUE(Find().empty()); }

}  // namespace
}  // namespace traceinject
