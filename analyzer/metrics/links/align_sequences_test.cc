// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/align_sequences.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace traceinject {
namespace {

// A sequence of one-letter kinds, one every 10 ns from `time` on.
std::vector<SequenceItem> Sequence(std::string_view kinds, TimeNs time = 0) {
  std::vector<SequenceItem> items;
  for (const char kind : kinds) {
    items.push_back({static_cast<std::uint32_t>(kind), time});
    time += 10;
  }
  return items;
}

std::string Aligned(const std::vector<SequenceItem>& a, const std::vector<SequenceItem>& b) {
  std::string text;
  for (const auto& [i, j] : AlignSequences(a, b))
    text += (text.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(j);
  return text;
}

TEST(AlignSequencesTest, WhatEitherLacksIsLeftOut) {
  EXPECT_EQ(Aligned(Sequence("abc"), Sequence("abc")), "0:0 1:1 2:2");
  EXPECT_EQ(Aligned(Sequence("abcdef"), Sequence("abef")), "0:0 1:1 4:2 5:3");
  EXPECT_EQ(Aligned(Sequence("abef"), Sequence("abcdef")), "0:0 1:1 2:4 3:5");
  EXPECT_EQ(Aligned(Sequence("abcd"), Sequence("axcd")), "0:0 2:2 3:3");
  EXPECT_EQ(Aligned(Sequence("abc"), Sequence("xyz")), "");
  EXPECT_EQ(Aligned(Sequence(""), Sequence("a")), "");
}

TEST(AlignSequencesTest, OfEqualFitsTheNearerInTimeCounts) {
  EXPECT_EQ(Aligned(Sequence("ababab"), Sequence("abab")), "0:0 1:1 2:2 3:3");
  EXPECT_EQ(Aligned(Sequence("ababab"), Sequence("abab", 20)), "2:0 3:1 4:2 5:3");
}

}  // namespace
}  // namespace traceinject
