// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/text.h"

#include <gtest/gtest.h>

#include <array>

namespace traceinject {
namespace {

TEST(Text, Glob) {
  EXPECT_TRUE(MatchesGlob("run.rank00003.db", "run.rank*.db"));
  EXPECT_TRUE(MatchesGlob("run.rank.db.db", "run.rank*.db"));
  EXPECT_FALSE(MatchesGlob("run.db", "run.rank*.db"));
  EXPECT_TRUE(MatchesGlob("abc", "a?c"));
  EXPECT_FALSE(MatchesGlob("ac", "a?c"));
  EXPECT_TRUE(MatchesGlob("", "*"));
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("a", ""));
  EXPECT_TRUE(MatchesGlob("aab", "*ab"));
}

TEST(Text, EditDistance) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("info", "info"), 0u);
  EXPECT_EQ(EditDistance("inof", "info"), 1u);  // neighbors swapped
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(Text, NearestWord) {
  constexpr std::array<std::string_view, 4> kWords = {"report", "info", "sql", "preload"};
  EXPECT_EQ(NearestWord("reprot", kWords), "report");
  EXPECT_EQ(NearestWord("inf", kWords), "info");
  EXPECT_EQ(NearestWord("sq", kWords), "sql");
  EXPECT_EQ(NearestWord("train", kWords), std::nullopt);
}

TEST(Text, ShortenMiddle) {
  EXPECT_EQ(ShortenMiddle("short", 8), "short");
  EXPECT_EQ(ShortenMiddle("0123456789abcdef", 10), "0123...def");
  // Two-byte letters: none is split, and the result never grows beyond the width.
  const std::string umlauts = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
  for (std::size_t width = 8; width < umlauts.size(); ++width) {
    const std::string shortened = ShortenMiddle(umlauts, width);
    EXPECT_LE(shortened.size(), width);
    EXPECT_EQ((shortened.size() - 3) % 2, 0u);
  }
}

TEST(Text, JoinFirst) {
  EXPECT_EQ(JoinFirst({}), "");
  EXPECT_EQ(JoinFirst({"a", "b"}, 2), "a, b");
  EXPECT_EQ(JoinFirst({"a", "b", "c"}, 2), "a, b, and 1 more");
}

TEST(Text, NumberRanges) {
  EXPECT_EQ(NumberRanges({}), "");
  EXPECT_EQ(NumberRanges({3}), "3");
  EXPECT_EQ(NumberRanges({0, 1, 3, 7, 8, 9, 2'000'000'000}), "0-1, 3, 7-9, 2000000000");
  EXPECT_EQ(NumberRanges({0, 1, 3, 5, 6}, 2), "0-1, 3, and 2 more");
}

TEST(Text, WithDetail) {
  EXPECT_EQ(WithDetail("GPU 0", "NVIDIA H200"), "GPU 0 (NVIDIA H200)");
  EXPECT_EQ(WithDetail("GPU 0", ""), "GPU 0");
}

TEST(Text, Table) {
  EXPECT_EQ(FormatTable({{false, true}, {{"name", "n"}, {"a", "100"}}}, "  "),
            "  name    n\n  a     100\n");
  EXPECT_EQ(FormatTable({}), "");
}

}  // namespace
}  // namespace traceinject
