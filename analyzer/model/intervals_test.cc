// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace traceinject {
namespace {

TEST(Intervals, MergeJoinsTouchingAndOverlapping) {
  EXPECT_EQ(Merge({{5, 7}, {1, 3}, {3, 4}, {6, 9}, {20, 20}, {30, 29}}),
            (Intervals{{1, 4}, {5, 9}}));
  EXPECT_EQ(Merge({{1, 10}, {2, 3}, {4, 5}}), (Intervals{{1, 10}}));
  EXPECT_EQ(Merge({}), Intervals{});
}

TEST(Intervals, MergeColumnsTakesRowsAndClosesOpenOnes) {
  const TimeColumn start = {0, 10, 20}, end = {5, 15, kOpen};
  EXPECT_EQ(MergeColumns(start, end, 30), (Intervals{{0, 5}, {10, 15}, {20, 30}}));
  const std::vector<std::uint32_t> rows = {2, 0};
  EXPECT_EQ(MergeColumns(start, end, 30, &rows), (Intervals{{0, 5}, {20, 30}}));
}

TEST(Intervals, SetOperations) {
  const Intervals a = {{0, 10}, {20, 30}}, b = {{5, 25}};
  EXPECT_EQ(Intersect(a, b), (Intervals{{5, 10}, {20, 25}}));
  EXPECT_EQ(Subtract(a, b), (Intervals{{0, 5}, {25, 30}}));
  EXPECT_EQ(Subtract(b, a), (Intervals{{10, 20}}));
  EXPECT_EQ(Clip(a, {5, 22}), (Intervals{{5, 10}, {20, 22}}));
  EXPECT_EQ(Clip(a, {12, 12}), Intervals{});
  EXPECT_EQ(Length(a), 20);
  EXPECT_EQ(LengthInside(a, {9, 21}), 2);
  EXPECT_EQ(FreeTail(a, {9, 21}), 0);
  EXPECT_TRUE(Contains(a, 0));
  EXPECT_FALSE(Contains(a, 10));
}

TEST(Intervals, KnowsTheMergedForm) {
  EXPECT_TRUE(IsMerged({{0, 1}, {2, 3}}));
  EXPECT_FALSE(IsMerged({{0, 1}, {1, 3}}));
  EXPECT_FALSE(IsMerged({{2, 3}, {0, 1}}));
  EXPECT_FALSE(IsMerged({{1, 1}}));
}

// Brute force: one bool a nanosecond.
constexpr TimeNs kSpan = 96;
using Bitmap = std::array<bool, kSpan>;

Bitmap ToBitmap(const Intervals& a) {
  Bitmap bits = {};
  for (const Interval& x : a) {
    for (TimeNs t = std::max<TimeNs>(0, x.start); t < std::min(kSpan, x.end); ++t)
      bits[static_cast<std::size_t>(t)] = true;
  }
  return bits;
}

template <typename Combine>
Bitmap Each(const Bitmap& a, const Bitmap& b, Combine combine) {
  Bitmap bits = {};
  for (std::size_t t = 0; t < bits.size(); ++t) bits[t] = combine(a[t], b[t]);
  return bits;
}

TimeNs Count(const Bitmap& bits) { return std::count(bits.begin(), bits.end(), true); }

Intervals RandomIntervals(std::mt19937& random) {
  Intervals list;
  const auto count = random() % 12;
  for (unsigned i = 0; i < count; ++i) {
    const auto start = static_cast<TimeNs>(random() % kSpan);
    const TimeNs end = std::min<TimeNs>(kSpan, start + static_cast<TimeNs>(random() % 14) - 1);
    list.push_back({start, end});
  }
  return list;
}

TEST(Intervals, AgreeWithABitmapOnRandomSets) {
  std::mt19937 random(20240817);
  for (int round = 0; round < 5'000; ++round) {
    const Intervals raw_a = RandomIntervals(random), raw_b = RandomIntervals(random);
    const Intervals a = Merge(raw_a), b = Merge(raw_b);
    const Bitmap bits_a = ToBitmap(raw_a), bits_b = ToBitmap(raw_b);
    const auto from = static_cast<TimeNs>(random() % kSpan);
    const Interval window = {from, from + static_cast<TimeNs>(random() % 40)};
    const Bitmap bits_window = ToBitmap({window});
    const auto all = [](bool x, bool y) { return x && y; };
    const auto minus = [](bool x, bool y) { return x && !y; };

    const Intervals results[] = {a, Intersect(a, b), Subtract(a, b), Clip(a, window)};
    const Bitmap expected[] = {bits_a, Each(bits_a, bits_b, all), Each(bits_a, bits_b, minus),
                               Each(bits_a, bits_window, all)};
    for (std::size_t i = 0; i < std::size(results); ++i) {
      ASSERT_TRUE(IsMerged(results[i])) << "round " << round << " operation " << i;
      ASSERT_EQ(ToBitmap(results[i]), expected[i]) << "round " << round << " operation " << i;
    }
    ASSERT_EQ(Length(a), Count(bits_a));
    ASSERT_EQ(LengthInside(a, window), Count(Each(bits_a, bits_window, all)));
    const auto is_in_a = [&](TimeNs t) { return t < kSpan && bits_a[static_cast<std::size_t>(t)]; };
    TimeNs free = 0;
    for (TimeNs t = window.end; t > window.start && !is_in_a(t - 1); --t) ++free;
    ASSERT_EQ(FreeTail(a, window), free);
    ASSERT_EQ(Contains(a, from), bits_a[static_cast<std::size_t>(from)]);
  }
}

}  // namespace
}  // namespace traceinject
