// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/time_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

namespace traceinject {
namespace {

using Times = std::vector<std::int64_t>;

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();

void ExpectSame(const TimeColumn& column, const Times& times) {
  ASSERT_EQ(column.size(), times.size());
  EXPECT_EQ(column.empty(), times.empty());
  for (std::size_t row = 0; row < times.size(); ++row) ASSERT_EQ(column[row], times[row]) << row;
  EXPECT_TRUE(std::equal(column.begin(), column.end(), times.begin(), times.end()));
  if (!times.empty()) {
    EXPECT_EQ(column.front(), times.front());
    EXPECT_EQ(column.back(), times.back());
  }
}

// Steps of up to `most` each; one in `outlier_every` is any number at all; 0: none is.
Times RandomTimes(std::size_t count, std::int64_t most, unsigned outlier_every) {
  std::mt19937_64 random(count);
  Times times(count);
  std::int64_t now = -most;
  for (std::int64_t& time : times) {
    now += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    const bool outlier = outlier_every != 0 && random() % outlier_every == 0;
    time = outlier ? static_cast<std::int64_t>(random()) : now;
  }
  return times;
}

TEST(TimeColumn, HoldsWhatWasAddedOneByOneOrTogether) {
  for (const std::size_t count : {0, 1, 63, 64, 65, 1000}) {
    for (const std::int64_t most : {10LL, 100'000LL, 100'000'000LL, 5'000'000'000LL}) {
      for (const unsigned outlier_every : {0U, 100U, 3U}) {
        const Times times = RandomTimes(count, most, outlier_every);
        TimeColumn one_by_one;
        for (const std::int64_t time : times) one_by_one.push_back(time);
        ExpectSame(one_by_one, times);
        ExpectSame(TimeColumn(times), times);
        TimeColumn in_parts;
        for (std::size_t row = 0, part = 1; row < count; row += part, part = part * 2 + 1)
          in_parts.Append(one_by_one, row, std::min(part, count - row));
        ExpectSame(in_parts, times);
        EXPECT_TRUE(in_parts == one_by_one);
      }
    }
  }
}

TEST(TimeColumn, HoldsTheEndsOfTime) {
  const Times ends = {kEarliest, kLatest, 0, -1, 1, kEarliest + 1, kLatest - 1, kEarliest};
  ExpectSame(TimeColumn(ends), ends);
  for (const std::int64_t first : ends) {
    for (const std::int64_t second : ends) ExpectSame(TimeColumn{first, second}, {first, second});
  }
}

TEST(TimeColumn, TakesAnyTimeInThePlaceOfAnother) {
  Times times = RandomTimes(300, 10'000, 0);
  TimeColumn column(times);
  const std::array<std::int64_t, 4> others = {7, kLatest, kEarliest, -5'000'000'000};
  for (std::size_t row = 0; row < times.size(); row += 7) {
    times[row] = others[row % others.size()];
    column.Set(row, times[row]);
    ExpectSame(column, times);
  }
  // What comes after one of them.
  column.Append({1, kLatest, 3});
  times.insert(times.end(), {1, kLatest, 3});
  ExpectSame(column, times);
}

TEST(TimeColumn, MapsEach) {
  Times times = RandomTimes(200, 1'000'000'000, 50);
  TimeColumn column(times);
  const auto later = [](std::int64_t time) { return time / 2 + 5; };
  column.Transform(later);
  for (std::int64_t& time : times) time = later(time);
  ExpectSame(column, times);
}

TEST(TimeColumn, IsSearchedAsAVector) {
  const Times times = RandomTimes(500, 1'000'000, 0);
  const TimeColumn column(times);
  for (const std::int64_t time : times) {
    EXPECT_EQ(std::lower_bound(column.begin(), column.end(), time) - column.begin(),
              std::lower_bound(times.begin(), times.end(), time) - times.begin());
    EXPECT_EQ(std::upper_bound(column.begin(), column.end(), time) - column.begin(),
              std::upper_bound(times.begin(), times.end(), time) - times.begin());
  }
}

// Twelve seconds of operations, 12 us apart.
TEST(TimeColumn, TakesHalfOfTheBytes) {
  constexpr std::size_t kCount = 1'000'000;
  TimeColumn column(RandomTimes(kCount, 24'000, 0));
  column.shrink_to_fit();
  EXPECT_LE(static_cast<double>(column.memory_bytes()) / kCount, 4.13);
  // None but its own block pays for a time that was not seen.
  column.Set(kCount / 2, kLatest);
  column.shrink_to_fit();
  EXPECT_LE(static_cast<double>(column.memory_bytes()) / kCount, 4.14);
}

// An hour apart: half as much again as in a vector, and no more.
TEST(TimeColumn, TakesTwelveBytesOfWhatLiesFarApart) {
  constexpr std::size_t kCount = 10'000;
  TimeColumn column;
  for (std::size_t row = 0; row < kCount; ++row)
    column.push_back(static_cast<std::int64_t>(row) * 3'600'000'000'000);
  column.shrink_to_fit();
  EXPECT_LE(static_cast<double>(column.memory_bytes()) / kCount, 12.2);
}

}  // namespace
}  // namespace traceinject
