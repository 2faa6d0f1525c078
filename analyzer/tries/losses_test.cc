// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/losses.h"

#include <gtest/gtest.h>

#include <cmath>

namespace traceinject {
namespace {

TEST(LossesTest, AreReadAsTheyWereNoted) {
  EXPECT_EQ(ParseLosses("0x1.8p+1,-0x1p+0"), (std::vector<double>{3, -1}));
  EXPECT_EQ(ParseLosses(""), std::vector<double>());
  EXPECT_EQ(ParseLosses("0x1p+0,oops,2").size(), 1u);
  EXPECT_TRUE(std::isnan(ParseLosses("nan")[0]));
}

TEST(LossesTest, EqualToTheLastBit) {
  EXPECT_EQ(CompareLosses({{3, 2, 1}}, {{3, 2}}).outcome, "equal");
  EXPECT_EQ(CompareLosses({{NAN}}, {{NAN}}).outcome, "equal");
}

TEST(LossesTest, AnotherOrderOfSums) {
  EXPECT_EQ(CompareLosses({{3, 2}}, {{3, 2.0001}}).outcome, "rounding");
}

TEST(LossesTest, AProgramThatRepeatsItselfTellsEachDifference) {
  const LossComparison found = CompareLosses({{3, 2}, {3, 2}}, {{3, 2.002}});
  EXPECT_EQ(found.outcome, "differ");
  EXPECT_NE(found.text.find("0.1 %"), std::string::npos) << found.text;
}

TEST(LossesTest, AProgramThatDoesNotRepeatItselfHidesSmallDifferences) {
  EXPECT_EQ(CompareLosses({{3, 2}, {3, 2.2}}, {{3, 2.1}}).outcome, "within noise");
  EXPECT_EQ(CompareLosses({{3, 2}, {3, 2.2}}, {{3, 20}}).outcome, "differ");
  EXPECT_EQ(CompareLosses({{3, 2}, {3, 2.2}}, {{3, NAN}}).outcome, "differ");
}

TEST(LossesTest, OneRunDoesNotTellWhetherItRepeatsItself) {
  EXPECT_EQ(CompareLosses({{3, 2}}, {{3, 2.1}}).outcome, "unknown");
  EXPECT_EQ(CompareLosses({{}}, {{3}}).outcome, "unknown");
}

}  // namespace
}  // namespace traceinject
