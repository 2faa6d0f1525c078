// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/last_stacks.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

class LastStacksTest : public testing::Test {
 protected:
  LastStacksTest() {
    builder_.rank().process.pid = 100;
    builder_.rank().threads = {{101, "loader"}, {100, "python"}, {102, "logger"}};
    first_ = builder_.AddStack({{"main", "/w/train.py", 9}});
    last_ = builder_.AddStack({{"main", "/w/train.py", 9}, {"step", "/w/train.py", 41}});
  }

  RankBuilder builder_;
  std::uint32_t first_ = kNone, last_ = kNone;
};

TEST_F(LastStacksTest, TheLatestOfEachThreadTheMainThreadFirst) {
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 0, 500, kSecond);
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 1);
  builder_.AddLook(2 * kSecond, last_, StackKind::kTimed, 0, 1, 3, kSecond / 2);
  const std::vector<LastStack> last = LastStacks(builder_.rank());
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].thread, 1U);
  EXPECT_EQ(last[0].stack, last_);
  EXPECT_EQ(last[0].time, 2 * kSecond + kSecond / 2) << "with those that found the same";
  EXPECT_FALSE(last[0].at_stall);
  EXPECT_EQ(last[1].thread, 0U);
}

TEST_F(LastStacksTest, OfAStallToo) {
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 1);
  builder_.AddLook(3 * kSecond, last_, StackKind::kStall, 0, 1);
  const LastStack main = LastStacks(builder_.rank()).at(0);
  EXPECT_EQ(main.stack, last_);
  EXPECT_TRUE(main.at_stall);
}

TEST_F(LastStacksTest, StacksOfCallsAndLaunchesAreOfThePast) {
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 1);
  builder_.AddLook(2 * kSecond, last_, StackKind::kLaunch, 7, 1);
  builder_.AddLook(3 * kSecond, last_, StackKind::kCall, 8, 1);
  EXPECT_EQ(LastStacks(builder_.rank()).at(0).stack, first_);
}

TEST_F(LastStacksTest, ThreadsThatEndedStandNowhere) {
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 2);
  builder_.AddLook(30 * kSecond, last_, StackKind::kTimed, 0, 1);
  ASSERT_EQ(LastStacks(builder_.rank()).size(), 1U);
  EXPECT_EQ(LastStacks(builder_.rank())[0].thread, 1U);
}

TEST_F(LastStacksTest, WithoutTheMainThreadTheOneSeenMost) {
  builder_.AddLook(1 * kSecond, first_, StackKind::kTimed, 0, 0);
  builder_.AddLook(1 * kSecond, last_, StackKind::kTimed, 0, 2, 9);
  EXPECT_EQ(LastStacks(builder_.rank()).at(0).thread, 2U);
}

TEST_F(LastStacksTest, NoStacks) { EXPECT_TRUE(LastStacks(builder_.rank()).empty()); }

}  // namespace
}  // namespace traceinject
