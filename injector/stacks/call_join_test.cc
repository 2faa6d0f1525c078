// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/call_join.h"

#include <gtest/gtest.h>

#include <map>

#include "injector/stacks/stack_sampler.h"

namespace traceinject {
namespace {

constexpr std::int64_t kLong = CallJoin::kLongestWaitNs;

StackSampleRow StackAt(std::int64_t time, std::uint32_t thread) {
  return {time, thread, 1, 2, false, 0};
}

TEST(CallJoinTest, TheFirstCallOfTheThreadInsideIsTheOne) {
  CallJoin join;
  join.Add(StackAt(200, 1), 210, {});
  join.Add(StackAt(100, 1), 150, {});
  join.Add(StackAt(100, 2), 150, {});
  join.Match(
      {{120, 5, 1, 1, 7, 0}, {110, 5, 1, 1, 6, 0}, {90, 5, 2, 1, 5, 0}, {220, 1, 1, 1, 8, 0}});
  std::vector<StackSampleRow> rows;
  join.Settle(300, false, &rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].time, 100);
  EXPECT_EQ(rows[0].correlation, 6U);
}

// Kernels of a library's call: each gets its share of the stacks.
TEST(CallJoinTest, EachCallOfALaunchIsTheOneAsOftenAsOthers) {
  CallJoin join;
  std::vector<StackSampleRow> rows;
  constexpr int kStacks = 3000;
  for (int i = 0; i < kStacks; ++i) {
    const std::int64_t start = 1000 * i;
    StackSampleRow row = StackAt(start, 1);
    row.kind = StackSampler::kLaunch;
    join.Add(row, start + 100, {});
    join.Match(
        {{start + 10, 1, 1, 1, 1, 0}, {start + 20, 1, 1, 1, 2, 0}, {start + 30, 1, 1, 1, 3, 0}});
    join.Settle(start + 100, false, &rows);
  }
  std::map<std::uint64_t, int> counts;
  for (const StackSampleRow& row : rows) ++counts[row.correlation];
  ASSERT_EQ(counts.size(), 3U);
  for (const auto& [correlation, count] : counts) EXPECT_NEAR(count, kStacks / 3, 100);
}

// A flight recorder forgets threads and stacks that no row was of for a while.
TEST(CallJoinTest, IdsOfWhatWaitsAreRenewed) {
  CallJoin join;
  join.Add(StackAt(100, 1), 150, {77, 5});
  join.ForEach([](CallJoin::Origin* origin, StackSampleRow* row) {
    EXPECT_EQ(origin->tid, 77);
    EXPECT_EQ(origin->node, 5U);
    row->thread = 9;
  });
  join.Match({{120, 5, 9, 1, 7, 0}});
  std::vector<StackSampleRow> rows;
  join.Settle(300, false, &rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].thread, 9U);
}

TEST(CallJoinTest, WhatFindsNoneIsKeptForAWhile) {
  CallJoin join;
  std::vector<StackSampleRow> rows;
  join.Add(StackAt(100, 1), 150, {});
  join.Settle(kLong, false, &rows);
  EXPECT_TRUE(rows.empty());
  join.Settle(150 + kLong, false, &rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].has_correlation);
  join.Add(StackAt(100, 1), 150, {});
  join.Settle(200, true, &rows);
  EXPECT_EQ(rows.size(), 2U);
}

}  // namespace
}  // namespace traceinject
