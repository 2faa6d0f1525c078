// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/stack_lanes.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

constexpr char kTorch[] = "/usr/lib/python3/dist-packages/torch/nn/linear.py";

class StackLanesTest : public testing::Test {
 protected:
  StackLanesTest() {
    builder_.rank().facts.push_back({"stacks", "period_ns", "10000000", ""});
    load_ = builder_.AddStack({{"main", "train.py", 10}, {"load", "data.py", 20}});
    // Of the same outermost frame, as the recorder writes them.
    forward_ = Called(0, "forward", "model.py", 30);
    linear_ = Called(forward_, "linear", kTorch, 40);
  }
  std::uint32_t Called(std::uint32_t caller, const char* function, const char* file, int line) {
    const std::uint32_t alone = builder_.AddStack({{function, file, line}});
    builder_.rank().stacks[alone].caller = caller;
    return alone;
  }
  StackLanes Lanes(std::uint32_t thread = 0) { return StackLanesOf(builder_.rank())[thread]; }
  // "10..20 train.py:10 in main; ..."
  std::string Text(const LaneEvents& lane, bool of_stacks) {
    std::string text;
    const Rank& rank = builder_.rank();
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const std::uint32_t place = of_stacks ? rank.stacks[lane.source(i)].place : lane.source(i);
      text += (i == 0 ? "" : "; ") + Ms(lane.start(i)) + ".." + Ms(lane.end(i)) + " " +
              PlaceText(rank, place);
    }
    return text;
  }
  static std::string Ms(TimeNs time) { return std::to_string(time / kMs); }

  RankBuilder builder_;
  std::uint32_t load_ = kNone, forward_ = kNone, linear_ = kNone;
};

TEST_F(StackLanesTest, ALookStandsForTheTimeToTheMiddleBetweenItAndTheNext) {
  builder_.AddLook(100 * kMs, load_);
  builder_.AddLook(112 * kMs, forward_);
  builder_.AddLook(120 * kMs, forward_, StackKind::kTimed, 0, 0, 3, 30 * kMs);
  const StackLanes lanes = Lanes();
  EXPECT_EQ(Text(lanes.lines, false),
            "95..106 data.py:20 in load; 106..155 model.py:30 in forward");
  ASSERT_EQ(lanes.frames.size(), 2U);
  EXPECT_EQ(Text(lanes.frames[0], true), "95..155 train.py:10 in main") << "one box";
  EXPECT_EQ(Text(lanes.frames[1], true),
            "95..106 data.py:20 in load; 106..155 model.py:30 in forward");
}

TEST_F(StackLanesTest, WhatALibraryDoesIsAtTheLineThatCalledIt) {
  builder_.AddLook(100 * kMs, forward_);
  builder_.AddLook(110 * kMs, linear_);
  const StackLanes lanes = Lanes();
  EXPECT_EQ(Text(lanes.lines, false), "95..115 model.py:30 in forward");
  ASSERT_EQ(lanes.frames.size(), 3U);
  EXPECT_EQ(Text(lanes.frames[2], true), "105..115 torch/nn/linear.py:40 in linear");
  EXPECT_EQ(lanes.frames[1].ink(0), CodeInk("forward", true));
  EXPECT_EQ(lanes.frames[2].ink(0), CodeInk("linear", false));
}

// Without a look for two periods the thread was not in Python.
TEST_F(StackLanesTest, GapsBetweenLooksStayEmpty) {
  builder_.AddLook(100 * kMs, load_);
  builder_.AddLook(150 * kMs, load_);
  builder_.AddLook(160 * kMs, kNone);
  builder_.AddLook(170 * kMs, load_);
  EXPECT_EQ(Text(Lanes().lines, false),
            "95..105 data.py:20 in load; 145..155 data.py:20 in load; 165..175 data.py:20 in load");
  EXPECT_TRUE(Lanes(1).lines.size() == 0);
}

TEST_F(StackLanesTest, CallsWithAStackOfTheirOwnLieOverTheLooks) {
  builder_.AddApi(102 * kMs, 108 * kMs, "cudaStreamSynchronize");
  builder_.AddApi(109 * kMs, 110 * kMs, "cudaLaunchKernel", 1);
  builder_.AddApi(120 * kMs, kOpen, "cudaStreamSynchronize");
  builder_.AddLook(100 * kMs, load_, StackKind::kTimed, 0, 0, 1, 10 * kMs);
  builder_.AddLook(102 * kMs, linear_, StackKind::kCall, 1);
  builder_.AddLook(109 * kMs, linear_, StackKind::kLaunch, 2);  // of another thread than the call
  builder_.AddLook(120 * kMs, linear_, StackKind::kCall, 3);
  EXPECT_EQ(Text(Lanes().lines, false),
            "95..102 data.py:20 in load; 102..108 model.py:30 in forward; 108..115 data.py:20 in "
            "load");
  EXPECT_EQ(Text(Lanes().frames[0], true), "95..115 train.py:10 in main");
}

TEST_F(StackLanesTest, APeriodOutOfReasonIsNotBelieved) {
  EXPECT_EQ(UsualLookPeriod(builder_.rank()), 10 * kMs);
  builder_.rank().facts.back().value = "9000000000000000000";
  EXPECT_EQ(UsualLookPeriod(builder_.rank()), 10'000 * kMs);
  builder_.rank().facts.clear();
  EXPECT_EQ(UsualLookPeriod(builder_.rank()), 10 * kMs);
}

TEST_F(StackLanesTest, DeepStacksAreCutAndCounted) {
  std::uint32_t deep = load_;
  for (int i = 0; i < 100; ++i) deep = Called(deep, "again", "train.py", 50);
  builder_.AddLook(100 * kMs, deep);
  EXPECT_EQ(Lanes().frames.size(), kMaxFrameLanes);
  EXPECT_EQ(Lanes().deepest, 102U);
}

TEST_F(StackLanesTest, AMillionLooksAreNoMoreBoxesThanChanges) {
  for (int i = 0; i < 1'000'000; ++i) {
    builder_.AddLook(i * 10 * kMs, i / 1'000 % 2 == 0 ? load_ : linear_);
  }
  const StackLanes lanes = Lanes();
  EXPECT_EQ(lanes.frames[0].size(), 1U);
  EXPECT_EQ(lanes.frames[1].size(), 1'000U);
  EXPECT_EQ(lanes.lines.size(), 1'000U);
}

}  // namespace
}  // namespace traceinject
