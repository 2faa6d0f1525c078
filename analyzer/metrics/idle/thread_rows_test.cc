// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/thread_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace traceinject {
namespace {

struct Columns {
  TimeColumn start, end;
  IndexColumn thread;
};

std::vector<std::uint32_t> Overlapping(const ThreadRows& rows, std::uint32_t thread,
                                       Interval time) {
  std::vector<std::uint32_t> found;
  rows.ForEachOverlapping(thread, time, [&](std::uint32_t row) { found.push_back(row); });
  std::sort(found.begin(), found.end());
  return found;
}

TEST(ThreadRowsTest, NestedRanges) {
  const Columns c{{0, 10, 20, 30, 40}, {100, 50, 25, kOpen, 45}, {0, 0, 0, 1, 0}};
  const ThreadRows rows(c.start, c.end, c.thread, 2);
  EXPECT_EQ(rows.Innermost(0, 5), 0u);
  EXPECT_EQ(rows.Innermost(0, 20), 2u);
  EXPECT_EQ(rows.Innermost(0, 25), 1u);  // ends are not part of a range
  EXPECT_EQ(rows.Innermost(0, 60), 0u);
  EXPECT_EQ(rows.Innermost(0, 100), kNone);
  EXPECT_EQ(rows.Innermost(1, 29), kNone);
  EXPECT_EQ(rows.Innermost(1, 1'000'000), 3u);
  EXPECT_EQ(rows.Innermost(2, 5), kNone);
  EXPECT_EQ(Overlapping(rows, 0, {26, 41}), (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(Overlapping(rows, 7, {26, 41}), std::vector<std::uint32_t>{});
}

TEST(ThreadRowsTest, RowsOfUnknownThreadsAreLeftOut) {
  const Columns c{{0, 1}, {10, 10}, {kNone, 0}};
  const ThreadRows rows(c.start, c.end, c.thread, 1);
  EXPECT_EQ(rows.Innermost(0, 5), 1u);
  EXPECT_EQ(Overlapping(rows, 0, {0, 10}), std::vector<std::uint32_t>{1});
}

TEST(ThreadRowsTest, AgreesWithBruteForceOnRangesThatDoNotNest) {
  std::mt19937 random(5);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int run = 0; run < 300; ++run) {
    Columns c;
    TimeNs start = 0;
    for (int i = pick(0, 30); i > 0; --i) {
      start += pick(0, 4);
      c.start.push_back(start);
      c.end.push_back(pick(0, 20) == 0 ? kOpen : start + pick(0, 25));
      c.thread.push_back(static_cast<std::uint32_t>(pick(0, 1)));
    }
    const ThreadRows rows(c.start, c.end, c.thread, 2);
    for (TimeNs t = -2; t < start + 30; ++t) {
      std::uint32_t innermost = kNone;
      for (std::uint32_t i = 0; i < c.start.size(); ++i) {
        if (c.thread[i] == 0 && c.start[i] <= t && c.end[i] > t) innermost = i;
      }
      ASSERT_EQ(rows.Innermost(0, t), innermost);
      const Interval time{t, t + pick(1, 12)};
      std::vector<std::uint32_t> overlapping;
      for (std::uint32_t i = 0; i < c.start.size(); ++i) {
        const bool began_inside = c.start[i] >= time.start && c.start[i] < time.end;
        if (c.thread[i] == 1 &&
            (began_inside || (c.start[i] < time.start && c.end[i] > time.start)))
          overlapping.push_back(i);
      }
      ASSERT_EQ(Overlapping(rows, 1, time), overlapping);
      const ThreadRows kept(c.start, c.end, c.thread, 2, {{-9, -7}, time, {t + 20, t + 21}});
      ASSERT_EQ(Overlapping(kept, 1, time), overlapping);
    }
  }
}

}  // namespace
}  // namespace traceinject
