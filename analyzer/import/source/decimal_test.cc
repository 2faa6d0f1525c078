// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

TEST(DecimalTest, MicrosecondsSinceTheEpochAreExactInNanoseconds) {
  EXPECT_EQ(ParseDecimal("1711964646123456.789", 3), 1711964646123456789);
  EXPECT_EQ(ParseDecimal("1711964646123456", 3), 1711964646123456000);
  EXPECT_EQ(ParseDecimal("4458676522690.655", 3), 4458676522690655);
  EXPECT_EQ(ParseDecimal("-0.001", 3), -1);
  EXPECT_EQ(ParseDecimal("1.5e3", 3), 1500000);
  EXPECT_EQ(ParseDecimal("1.711964646E+15", 3), 1711964646000000000);
}

TEST(DecimalTest, RoundsHalfAwayFromZero) {
  EXPECT_EQ(ParseDecimal("0.0004", 3), 0);
  EXPECT_EQ(ParseDecimal("0.0005", 3), 1);
  EXPECT_EQ(ParseDecimal("-0.0005", 3), -1);
  EXPECT_EQ(ParseDecimal("12.0004999999999999999999", 3), 12000);
  EXPECT_EQ(ParseDecimal("1e-400", 3), 0);
}

TEST(DecimalTest, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* text : {"", "-", ".", "abc", "1x", "1e", "1e+", "--1", "NaN", "0x10", "1 "})
    EXPECT_FALSE(ParseDecimal(text, 3)) << text;
  for (const char* text : {"1e30", "99999999999999999999", "1e999999999", "9223372036854775808"})
    EXPECT_FALSE(ParseDecimal(text)) << text;
  EXPECT_EQ(ParseDecimal("9" + std::string(400, '0') + "e-400"), 9);
  EXPECT_EQ(ParseDecimal("0." + std::string(400, '0') + "1", 3), 0);
}

}  // namespace
}  // namespace traceinject
