// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/packed_intervals.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

TEST(PackedIntervals, IsTheMergedList) {
  std::mt19937 random(3);
  PackedIntervals packed;
  Intervals plain;
  TimeNs start = -500;
  for (int i = 0; i < 5'000; ++i) {
    const TimeNs length = random() % 8 == 0 ? 0 : static_cast<TimeNs>(random() % 2'000);
    packed.Append({start, start + length});
    plain.push_back({start, start + length});
    start += static_cast<TimeNs>(random() % 3 == 0 ? random() % 100'000 : random() % 500);
  }
  const Intervals merged = Merge(plain);
  ASSERT_EQ(packed.size(), merged.size());
  ASSERT_GT(merged.size(), 500U);
  for (std::size_t i = 0; i < merged.size(); ++i) ASSERT_EQ(packed[i], merged[i]) << i;
}

TEST(PackedIntervals, OfNothingIsEmpty) {
  PackedIntervals packed;
  EXPECT_EQ(packed.size(), 0U);
  packed.Append({5, 5});
  EXPECT_EQ(packed.size(), 0U);
}

}  // namespace
}  // namespace traceinject
