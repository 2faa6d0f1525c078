// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/remainders.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace traceinject {
namespace {

using Parts = std::vector<std::int64_t>;

TEST(RemaindersTest, TheLargestRemaindersGetWhatIsLeft) {
  // 33.3, 33.3, 33.3 of 100: one is left, and goes to the first.
  EXPECT_EQ(LargestRemainders({1, 1, 1}, 100), (Parts{34, 33, 33}));
  // 14.28, 28.57, 57.14.
  EXPECT_EQ(LargestRemainders({1, 2, 4}, 100), (Parts{14, 29, 57}));
  EXPECT_EQ(LargestRemainders({0, 5, 0}, 1000), (Parts{0, 1000, 0}));
}

TEST(RemaindersTest, NothingOfNothing) {
  EXPECT_EQ(LargestRemainders({}, 100), Parts());
  EXPECT_EQ(LargestRemainders({0, 0}, 100), (Parts{0, 0}));
}

TEST(RemaindersTest, TheyAlwaysAddUpAndAreNeverOffByOne) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> length(0, 2'592'000'000'000'000);  // a month
  for (int round = 0; round < 200; ++round) {
    Parts parts(1 + round % 12);
    for (std::int64_t& part : parts) part = length(random) / (1 + round);
    const double whole = static_cast<double>(std::accumulate(parts.begin(), parts.end(), 0LL));
    if (whole == 0) continue;
    const Parts given = LargestRemainders(parts, 1000);
    EXPECT_EQ(std::accumulate(given.begin(), given.end(), 0LL), 1000);
    for (std::size_t i = 0; i < parts.size(); ++i)
      EXPECT_NEAR(static_cast<double>(given[i]), 1000 * static_cast<double>(parts[i]) / whole, 1);
  }
}

}  // namespace
}  // namespace traceinject
