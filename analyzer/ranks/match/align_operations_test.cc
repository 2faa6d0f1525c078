// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {
namespace {

using Sequence = std::vector<SequencedOperation>;

// Operations of 300 us, with work of 0.7 to 2.3 ms between them.
Sequence Make(std::string_view kinds, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Sequence operations;
  TimeNs time = 0;
  for (const char kind : kinds) {
    time += 700'000 + static_cast<TimeNs>(random() % 1'600'000);
    operations.push_back({time, time + 300'000, static_cast<std::uint32_t>(kind),
                          static_cast<std::uint32_t>(kind), -1, kind >= 'a'});
    time += 300'000;
  }
  return operations;
}

// As another rank has them: on its clock, each end within 5 us, without those named.
Sequence Seen(const Sequence& all, TimeNs offset, double drift,
              const std::vector<std::size_t>& lost, std::uint64_t seed = 2) {
  std::mt19937_64 random(seed);
  Sequence seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::find(lost.begin(), lost.end(), i) != lost.end()) continue;
    SequencedOperation one = all[i];
    one.start -= static_cast<TimeNs>(random() % 200'000);
    one.end += static_cast<TimeNs>(random() % 5'000);
    one.start += offset + static_cast<TimeNs>(drift * static_cast<double>(one.start));
    one.end += offset + static_cast<TimeNs>(drift * static_cast<double>(one.end));
    seen.push_back(one);
  }
  return seen;
}

std::string Text(const AlignedPairs& pairs) {
  std::string text;
  for (const auto& [i, j] : pairs)
    text += (text.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(j);
  return text;
}

// What belongs together if a and b lack what is named.
std::string Truth(std::size_t count, const std::vector<std::size_t>& lost_a,
                  const std::vector<std::size_t>& lost_b) {
  AlignedPairs pairs;
  std::size_t i = 0, j = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const bool in_a = std::find(lost_a.begin(), lost_a.end(), k) == lost_a.end(),
               in_b = std::find(lost_b.begin(), lost_b.end(), k) == lost_b.end();
    if (in_a && in_b) pairs.emplace_back(i, j);
    i += in_a;
    j += in_b;
  }
  return Text(pairs);
}

TEST(AlignOperationsTest, WhatLooksAlikeIsToldApartByTime) {
  const std::string kinds(40, 'a');
  const Sequence all = Make(kinds);
  const std::vector<std::size_t> lost_a = {3, 20}, lost_b = {0, 21, 33};
  const Sequence a = Seen(all, 0, 0, lost_a), b = Seen(all, -1'500'000'000, 80e-6, lost_b, 3);
  EXPECT_EQ(Text(AlignOperations(a, b, {})), Truth(40, lost_a, lost_b));
}

// Every way to lose two of seven on one side and one on the other, after a common beginning.
TEST(AlignOperationsTest, EveryHoleIsFound) {
  const Sequence all = Make(std::string(16, 'a'));
  for (std::size_t x = 8; x < 15; ++x) {
    for (std::size_t y = x + 1; y < 15; ++y) {
      for (std::size_t z = 8; z < 15; ++z) {
        const Sequence a = Seen(all, 0, 0, {x, y}), b = Seen(all, 1'000'000'000, 0, {z}, 3);
        EXPECT_EQ(Text(AlignOperations(a, b, {})), Truth(16, {x, y}, {z}))
            << x << " " << y << " " << z;
      }
    }
  }
}

// The most pairs of one kind whose ends differ by nearly the same, over all differences that any
// pair shows: every way is tried.
std::size_t MostPairs(const Sequence& a, const Sequence& b) {
  std::size_t most = 0;
  for (const SequencedOperation& first : a) {
    for (const SequencedOperation& second : b) {
      const TimeNs difference = second.end - first.end;
      std::vector<std::vector<std::size_t>> best(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
      for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
          const TimeNs off = b[j - 1].end - a[i - 1].end - difference;
          const bool fits = a[i - 1].kind == b[j - 1].kind && std::abs(off) < 20'000;
          best[i][j] = std::max({best[i - 1][j], best[i][j - 1], best[i - 1][j - 1] + fits});
        }
      }
      most = std::max(most, best[a.size()][b.size()]);
    }
  }
  return most;
}

TEST(AlignOperationsTest, NoMoreThanWhatEveryWayTriedFindsAndNoLess) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    std::string kinds;
    for (int i = 0; i < 24; ++i) kinds += static_cast<char>('a' + random() % 2);
    const Sequence all = Make(kinds, random());
    std::vector<std::size_t> lost_a, lost_b;
    for (std::size_t i = random() % 3; i > 0; --i) lost_a.push_back(random() % 24);
    for (std::size_t i = random() % 3; i > 0; --i) lost_b.push_back(random() % 24);
    const Sequence a = Seen(all, 0, 0, lost_a, random()),
                   b = Seen(all, 1'234'567'890, 0, lost_b, random());
    EXPECT_EQ(Text(AlignOperations(a, b, {})), Truth(24, lost_a, lost_b)) << round;
    EXPECT_EQ(AlignOperations(a, b, {}).size(), MostPairs(a, b)) << round;
  }
}

std::vector<std::size_t> Range(std::size_t from, std::size_t to) {
  std::vector<std::size_t> all;
  for (; from < to; ++from) all.push_back(from);
  return all;
}

// Steps alike in kinds, whose lengths differ a little as those of real steps do.
TEST(AlignOperationsTest, ALateBeginningIsFoundAmongSteps) {
  std::string kinds;
  for (int step = 0; step < 30; ++step) kinds += "aabcaabd";
  const Sequence all = Make(kinds);
  for (const std::size_t begin : {8u, 16u, 40u, 100u}) {
    const Sequence a = Seen(all, 0, 0, {}), b = Seen(all, 1'700'000'000, 0, Range(0, begin), 3);
    EXPECT_EQ(Text(AlignOperations(a, b, {})), Truth(240, {}, Range(0, begin))) << begin;
    EXPECT_EQ(Text(AlignOperations(b, a, {})), Truth(240, Range(0, begin), {})) << begin;
  }
}

// Steps that take equally long to the microsecond fit with every shift: the clocks are near.
TEST(AlignOperationsTest, OfEqualShiftsTheNearerInTimeCounts) {
  Sequence all;
  for (TimeNs time = 0; time < 200 * 1'000'000; time += 1'000'000)
    all.push_back({time, time + 300'000, 'a', 'a', -1, true});
  const Sequence late(all.begin() + 30, all.end() - 20);
  const AlignedPairs pairs = AlignOperations(all, late, {});
  ASSERT_EQ(pairs.size(), 150u);
  EXPECT_EQ(pairs[0].first, 30u);
}

TEST(AlignOperationsTest, OnOneClockTheSameTimeIsTheSameOperation) {
  const Sequence all = Make(std::string(60, 'a'));
  const Sequence b = Seen(all, 0, 0, Range(0, 25));
  EXPECT_EQ(Text(AlignOperations(all, b, {.same_clock = true})), Truth(60, {}, Range(0, 25)));
}

TEST(AlignOperationsTest, AClockThatIsSetOnTheWayIsFollowed) {
  const Sequence all = Make(std::string(300, 'a'));
  Sequence b = Seen(all, 0, 0, {77});
  for (std::size_t i = 150; i < b.size(); ++i) b[i].start += 50'000'000, b[i].end += 50'000'000;
  const AlignedPairs pairs = AlignOperations(all, b, {});
  EXPECT_GE(pairs.size(), 290u);
  for (const auto& [i, j] : pairs) EXPECT_EQ(i, j + (i > 77)) << i;
}

// Capital letters: operations that ranks may leave early.
TEST(AlignOperationsTest, WhatMayEndApartIsAlignedBetweenItsNeighbors) {
  const Sequence all = Make("ABaCbADaBbCaAb");
  const std::vector<std::size_t> lost = {3, 6};
  Sequence b = Seen(all, 900'000'000, 0, lost);
  for (SequencedOperation& one : b) {
    if (!one.together) one.end += 250'000;
  }
  EXPECT_EQ(Text(AlignOperations(all, b, {})), Truth(14, {}, lost));
  const Sequence alone = Make("ABCABD");
  EXPECT_EQ(Text(AlignOperations(alone, alone, {})), Truth(6, {}, {}));
}

TEST(AlignOperationsTest, NumbersCountBeforeTime) {
  Sequence all = Make("abababab");
  std::int64_t next[256] = {};
  for (SequencedOperation& one : all) one.sequence = next[one.function]++;
  const std::vector<std::size_t> lost_a = {1}, lost_b = {0, 4};
  Sequence a = Seen(all, 0, 0, lost_a), b = Seen(all, 0, 0, lost_b);
  for (SequencedOperation& one : b) one.end += 2'000'000;  // the time of a neighbor
  EXPECT_EQ(Text(AlignOperations(a, b, {})), Truth(8, lost_a, lost_b));
  b[3].kind = 'z';  // of another size
  EXPECT_EQ(Text(AlignOperations(a, b, {})).find(":3"), std::string::npos);
}

TEST(AlignOperationsTest, OtherOperationsAreNotMatched) {
  const Sequence all = Make("aabbaabbaabb");
  Sequence b = Seen(all, 0, 0, {});
  b[5].kind = 'x';
  EXPECT_EQ(Text(AlignOperations(all, b, {})), "0:0 1:1 2:2 3:3 4:4 6:6 7:7 8:8 9:9 10:10 11:11");
  EXPECT_TRUE(AlignOperations(all, {}, {}).empty());
}

}  // namespace
}  // namespace traceinject
