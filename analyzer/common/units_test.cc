// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace traceinject {
namespace {

TEST(Units, Time) {
  EXPECT_EQ(FormatTime(0), "0 ns");
  EXPECT_EQ(FormatTime(999), "999 ns");
  EXPECT_EQ(FormatTime(1'000), "1.000 us");
  EXPECT_EQ(FormatTime(12'345), "12.35 us");
  EXPECT_EQ(FormatTime(999'999), "1.000 ms");
  EXPECT_EQ(FormatTime(1'234'000'000), "1.234 s");
  EXPECT_EQ(FormatTime(723'000'000'000), "12 min 03 s");
  EXPECT_EQ(FormatTime(2 * 3600 * 1'000'000'000LL + 60'000'000'000), "2 h 01 min");
  EXPECT_EQ(FormatTime(-1'500'000), "-1.500 ms");
  EXPECT_EQ(FormatTime(std::numeric_limits<std::int64_t>::min()), "-292 years");
}

TEST(Units, Bytes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1'500), "1.500 kB");
  EXPECT_EQ(FormatBytes(141'000'000'000), "141.0 GB");
  EXPECT_EQ(FormatRate(1'000'000, 1'000'000), "1.000 GB/s");
  EXPECT_EQ(FormatRate(1'000'000, 0), "unknown");
}

TEST(Units, ShareCountDate) {
  EXPECT_EQ(FormatShare(1, 3), "33.3 %");
  EXPECT_EQ(FormatShare(1, 3, 3), "33.333 %");
  EXPECT_EQ(FormatShare(1, 0), "unknown");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatCount(-1'234), "-1,234");
  EXPECT_EQ(FormatCount(-123), "-123");
  EXPECT_EQ(FormatDate(1'700'000'000'000'000'000), "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(FormatDate(-1), "1969-12-31 23:59:59 UTC");
}

TEST(Units, ParsesTimes) {
  EXPECT_EQ(ParseTime("1.5").value(), 1'500'000'000);
  EXPECT_EQ(ParseTime("1.5s").value(), 1'500'000'000);
  EXPECT_EQ(ParseTime("200ms").value(), 200'000'000);
  EXPECT_EQ(ParseTime("30us").value(), 30'000);
  EXPECT_EQ(ParseTime("7ns").value(), 7);
  EXPECT_EQ(ParseTime("2min").value(), 120'000'000'000);
  EXPECT_EQ(ParseTime("-3ms").value(), -3'000'000);
  for (const char* bad : {"", "x", "1.5 s", "1h", "1e3", "inf", "nan", "1000000000000s"}) {
    EXPECT_FALSE(ParseTime(bad).ok()) << bad;
  }
}

TEST(Units, SecondsAreExactAndShort) {
  EXPECT_EQ(SecondsText(0), "0s");
  EXPECT_EQ(SecondsText(1'500'000'000), "1.5s");
  EXPECT_EQ(SecondsText(-1), "-0.000000001s");
  EXPECT_EQ(SecondsText(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808s");
  EXPECT_EQ(ParseTime(SecondsText(7'947'000'001)).value(), 7'947'000'001);
}

TEST(Units, ParsesDates) {
  EXPECT_EQ(ParseDate("1970-01-02").value(), 86'400'000'000'000);
  EXPECT_EQ(FormatDate(ParseDate("2026-11-20").value()), "2026-11-20 00:00:00 UTC");
  EXPECT_EQ(FormatDate(ParseDate("2026-11-20T23:59").value()), "2026-11-20 23:59:00 UTC");
  EXPECT_EQ(ParseDate("2026-11-20 23:59").value(), ParseDate("2026-11-20T23:59").value());
  for (const char* bad : {"", "2026", "2026-13-01", "2026-02-30", "26-11-20", "2026-11-20T24:00",
                          "2026-11-20T2:00", "2026/11/20", "9999-01-01", "2026-11-20x"}) {
    EXPECT_FALSE(ParseDate(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace traceinject
