// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/printable.h"

#include <gtest/gtest.h>

#include "schemas/report.pb.h"

namespace traceinject {
namespace {

TEST(PrintableTest, KeepsUtf8) {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"})
    EXPECT_EQ(Printable(text), text);
}

TEST(PrintableTest, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(Printable("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(Printable("\xC3"), bad);                                // cut short
  EXPECT_EQ(Printable("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(Printable("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(Printable("\xF5\x80\x80\x80"), bad + bad + bad + bad);  // beyond the last character
}

TEST(PrintableTest, DisarmsControlCharacters) {
  EXPECT_EQ(Printable("a\nb\x1b[31mc\x7f"), "a b [31mc ");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m\xC2\xA0"),
            " 31m\xC2\xA0");
}

TEST(PrintableTest, ReachesEveryStringOfAMessage) {
  proto::Report report;
  report.add_notes("n\xFF");
  report.add_devices()->add_longest_gaps()->set_text("t\x01");
  report.mutable_mfu()->set_reason("r\n");
  MakePrintable(report);
  EXPECT_EQ(report.notes(0), "n\xEF\xBF\xBD");
  EXPECT_EQ(report.devices(0).longest_gaps(0).text(), "t ");
  EXPECT_EQ(report.mfu().reason(), "r ");
}

}  // namespace
}  // namespace traceinject
