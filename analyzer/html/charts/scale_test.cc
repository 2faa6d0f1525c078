// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/scale.h"

#include <gtest/gtest.h>

#include <cmath>

namespace traceinject {
namespace {

std::vector<std::string> Texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> texts;
  for (const Tick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

using Words = std::vector<std::string>;

TEST(ScaleTest, PlacesAreShares) {
  const Scale linear{10, 30, false};
  EXPECT_DOUBLE_EQ(linear.Place(10), 0);
  EXPECT_DOUBLE_EQ(linear.Place(25), 0.75);
  EXPECT_DOUBLE_EQ(linear.Place(99), 1) << "on the end";
  const Scale logarithmic{1, 1000, true};
  EXPECT_DOUBLE_EQ(logarithmic.Place(10), 1.0 / 3);
  EXPECT_DOUBLE_EQ(logarithmic.Place(0), 0);
  EXPECT_DOUBLE_EQ((Scale{5, 5, false}).Place(5), 0) << "nothing to divide by";
}

TEST(ScaleTest, EndsAreRound) {
  EXPECT_DOUBLE_EQ(FromZero(80.85e6).high, 100e6);
  EXPECT_DOUBLE_EQ(FromZero(100).high, 100) << "and no more than needed";
  EXPECT_DOUBLE_EQ(FromZero(0).high, 1);
  EXPECT_DOUBLE_EQ(FromZero(NAN).high, 1);
  const Scale powers = PowersOfTen(0.03, 989);
  EXPECT_DOUBLE_EQ(powers.low, 0.01);
  EXPECT_DOUBLE_EQ(powers.high, 1000);
  EXPECT_DOUBLE_EQ(PowersOfTen(10, 10).high, 100) << "never empty";
}

TEST(ScaleTest, TicksAreRoundAndFew) {
  EXPECT_EQ(Texts(TicksOf({0, 100e6, false}, 5, TimeTick)),
            (Words{"0", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"}));
  EXPECT_EQ(Texts(TicksOf({0.5, 65.5, false}, 6, PlainTick)), (Words{"20", "40", "60"}));
  EXPECT_EQ(Texts(TicksOf({1, 1e6, true}, 3, PlainTick)), (Words{"1", "1,000", "1,000,000"}));
  EXPECT_EQ(Texts(TicksOf({10, 100, true}, 6, PlainTick)), (Words{"10", "20", "50", "100"}));
}

TEST(ScaleTest, TextsHaveNoNeedlessDigits) {
  EXPECT_EQ(TimeTick(2.5e6), "2.5 ms");
  EXPECT_EQ(TimeTick(100e6), "100 ms");
  EXPECT_EQ(BytesTick(1.5e9), "1.5 GB");
  EXPECT_EQ(BytesTick(100), "100 B");
  EXPECT_EQ(PlainTick(1980), "1,980");
}

}  // namespace
}  // namespace traceinject
