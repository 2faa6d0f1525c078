// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/exposed_wait.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

void Add(GroupOperations& group, TimeNs start, TimeNs end, TimeNs exposed_ns) {
  group.start.push_back(start);
  group.end.push_back(end);
  group.exposed_ns.push_back(exposed_ns);
}

TEST(ExposedWaitTest, WhatIsExposedIsTheEnd) {
  RankSummary rank;
  Add(rank.groups.emplace_back(), 0, 100, 30);
  const Intervals alone = TimesAlone(rank);
  EXPECT_TRUE(alone.empty());
  EXPECT_EQ(ExposedWait(rank.groups[0], 0, 60, alone), 0);
  EXPECT_EQ(ExposedWait(rank.groups[0], 0, 90, alone), 20);
  EXPECT_EQ(ExposedWait(rank.groups[0], 0, 100, alone), 30);
}

TEST(ExposedWaitTest, OperationsThatRanAloneTellWhen) {
  RankSummary rank;
  rank.groups.resize(2);
  Add(rank.groups[0], 0, 100, 45);
  Add(rank.groups[1], 20, 40, 20);   // in the wait
  Add(rank.groups[1], 70, 80, 10);   // in the transfer
  Add(rank.groups[1], 110, 120, 2);  // beside other work
  const Intervals alone = TimesAlone(rank);
  ASSERT_EQ(alone.size(), 2u);
  // 15 at the end are left; the transfer has room for them.
  EXPECT_EQ(ExposedWait(rank.groups[0], 0, 60, alone), 20);
  EXPECT_EQ(ExposedWait(rank.groups[0], 0, 90, alone), 35);
  EXPECT_EQ(ExposedWait(rank.groups[1], 0, 12, alone), 12);
}

}  // namespace
}  // namespace traceinject
