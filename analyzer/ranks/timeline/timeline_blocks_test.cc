// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/timeline_blocks.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

TimelineTransfer Recv(TimeNs start, TimeNs end) { return {{start, end}, false}; }
TimelineTransfer Send(TimeNs start, TimeNs end) { return {{start, end}, true}; }

// In milliseconds.
std::vector<TimeNs> Blocked(Intervals busy, TimeNs end, std::vector<TimelineTransfer> transfers) {
  for (Interval& one : busy) one.start *= kMs, one.end *= kMs;
  for (TimelineTransfer& one : transfers) one.time.start *= kMs, one.time.end *= kMs;
  std::vector<TimeNs> blocked = FindBlocked(busy, end * kMs, transfers);
  for (TimeNs& one : blocked) one /= kMs;
  return blocked;
}

TEST(TimelineBlocksTest, OnlyTheLastToEndIsWaitedFor) {
  EXPECT_EQ(Blocked({{0, 10}, {20, 30}}, 30, {Recv(10, 12), Recv(10, 20)}),
            (std::vector<TimeNs>{0, 10}));
}

TEST(TimelineBlocksTest, WhoSendsGoesOn) {
  EXPECT_EQ(Blocked({{0, 10}, {20, 30}}, 30, {Recv(10, 19), Send(10, 20)}),
            (std::vector<TimeNs>{9, 0}));
  EXPECT_EQ(Blocked({{0, 10}, {20, 30}}, 30, {Send(10, 20)}), (std::vector<TimeNs>{10}))
      << "unless there is nothing else";
}

TEST(TimelineBlocksTest, OneAfterTheOtherBothAre) {
  EXPECT_EQ(Blocked({{0, 10}, {20, 30}}, 30, {Recv(8, 14), Recv(14, 20)}),
            (std::vector<TimeNs>{4, 6}));
}

TEST(TimelineBlocksTest, WhatWorkOutlastsBlocksNobody) {
  EXPECT_EQ(Blocked({{0, 10}, {12, 30}}, 30, {Recv(5, 25)}), (std::vector<TimeNs>{0}));
}

TEST(TimelineBlocksTest, AfterTheLastWork) {
  EXPECT_EQ(Blocked({{0, 10}}, 25, {Recv(5, 25)}), (std::vector<TimeNs>{15}));
  EXPECT_EQ(Blocked({{0, 10}}, 10, {Send(5, 25)}), (std::vector<TimeNs>{0}));
}

TEST(TimelineBlocksTest, AClockThatIsReadLateDoesNotHideAWait) {
  std::vector<TimelineTransfer> transfers{Recv(10 * kMs, 20 * kMs + kLateEndNs)};
  const auto blocked = FindBlocked({{0, 10 * kMs}, {20 * kMs, 30 * kMs}}, 30 * kMs, transfers);
  EXPECT_EQ(blocked, std::vector<TimeNs>{10 * kMs});
  EXPECT_EQ(transfers[0].time.end, 20 * kMs);
}

}  // namespace
}  // namespace traceinject
