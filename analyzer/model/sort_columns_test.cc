// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/sort_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <tuple>

namespace traceinject {
namespace {

using Times = std::vector<TimeNs>;
using Rows = std::vector<std::uint32_t>;

Rows BySorting(const Times& start, const Times& end) {
  Rows rows(start.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(start[a], end[a], a) < std::tuple(start[b], end[b], b);
  });
  return rows;
}

void ExpectSorted(const Times& start) {
  Times end = start;
  for (std::size_t row = 0; row < end.size(); ++row) end[row] += static_cast<TimeNs>(row % 3);
  EXPECT_EQ(SortedOrder(start, end).rows(), BySorting(start, end));
  EXPECT_EQ(SortedOrder(TimeColumn(start), TimeColumn(end)).rows(), BySorting(start, end));
}

Rows OrderOf(const TimeColumn& start, const TimeColumn& end) {
  return SortedOrder(start, end).rows();
}

Times Counting(TimeNs first, int count) {
  Times times(static_cast<std::size_t>(count));
  std::iota(times.begin(), times.end(), first);
  return times;
}

TEST(SortColumns, WhatStandsInOrderNeedsNone) {
  EXPECT_TRUE(OrderOf({}, {}).empty());
  EXPECT_TRUE(OrderOf({5}, {6}).empty());
  EXPECT_TRUE(OrderOf({1, 1, 1, 2}, {1, 2, 2, 0}).empty());
}

TEST(SortColumns, EndsAndPlacesDecideBetweenEqualStarts) {
  EXPECT_EQ(OrderOf({7, 7, 7, 3}, {9, 8, 8, 4}), (Rows{3, 1, 2, 0}));
}

TEST(SortColumns, TablesThatFollowEachOtherAreMerged) {
  Times start;
  for (int table = 0; table < 12; ++table) {
    const Times one = Counting(3 * table, 50);
    start.insert(start.end(), one.begin(), one.end());
  }
  ExpectSorted(start);
}

TEST(SortColumns, RowsThatStandTogetherAreOneRun) {
  Times start = Counting(0, 1000);
  start.push_back(700);
  start.push_back(900);
  const RowOrder order = SortedOrder(start, start);
  ASSERT_EQ(order.runs().size(), 5U);
  EXPECT_EQ(order.runs()[2].first, 701U);
  EXPECT_EQ(order.runs()[2].count, 200U);
  ExpectSorted(start);
}

TEST(SortColumns, OneTimeFarTooLateOrTooEarly) {
  Times late = Counting(0, 200), early = Counting(0, 200);
  late[3] = 1'000'000;
  early[150] = -1'000'000;
  ExpectSorted(late);
  ExpectSorted(early);
}

TEST(SortColumns, AnyOrder) {
  std::mt19937_64 random(7);
  for (const int range : {3, 50, 100'000}) {
    Times start(1000);
    for (TimeNs& time : start) time = std::uniform_int_distribution<TimeNs>(-range, range)(random);
    ExpectSorted(start);
  }
  Times backwards = Counting(0, 300);
  std::reverse(backwards.begin(), backwards.end());
  ExpectSorted(backwards);
}

TEST(SortColumns, ColumnsArePutIntoTheOrder) {
  Times start = {3, 1, 2};
  std::vector<std::uint8_t> bytes = {30, 10, 20};
  ApplyOrder(SortedOrder(start, start), start, bytes);
  EXPECT_EQ(start, (Times{1, 2, 3}));
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{10, 20, 30}));
}

TEST(SortColumns, PackedColumnsToo) {
  std::mt19937_64 random(3);
  Times start = Counting(0, 1000);
  for (int i = 0; i < 20; ++i) start.insert(start.begin() + static_cast<int>(random() % 1000), 500);
  PackedColumn<TimeNs> packed;
  for (const TimeNs time : start) packed.push_back(time);
  ApplyOrder(SortedOrder(start, start), start, packed);
  EXPECT_TRUE(std::is_sorted(start.begin(), start.end()));
  EXPECT_TRUE(std::equal(packed.begin(), packed.end(), start.begin()));
}

TEST(SortColumns, RowsThatAreNotListedAreLeftOut) {
  Times start = {3, 1, 2, 9};
  ApplyOrder(Rows{1, 2, 3}, start);
  EXPECT_EQ(start, (Times{1, 2, 9}));
}

}  // namespace
}  // namespace traceinject
