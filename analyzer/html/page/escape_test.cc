// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/escape.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(EscapedTest, MarkupAndQuotesAreText) {
  EXPECT_EQ(Escaped("</script><img src=x onerror='a()' alt=\"&amp;\">"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39; alt=&quot;&amp;amp;&quot;&gt;");
  EXPECT_EQ(Escaped(""), "");
}

TEST(EscapedTest, ControlCharactersAndBrokenTextAreHarmless) {
  EXPECT_EQ(Escaped(std::string_view("a\0b\x1b[31m\x7f\xc2\x9bz", 12)), "a b [31m  z");
  EXPECT_EQ(Escaped("\xff\xfe<\xc3"), "\xEF\xBF\xBD\xEF\xBF\xBD&lt;\xEF\xBF\xBD");
}

TEST(EscapedTest, WhatIsInvisibleOrTurnsTheTextAroundIsNamed) {
  EXPECT_EQ(Escaped("a\u202Eb"), "a[U+202E]b");
  EXPECT_EQ(Escaped("\u2066\u2069\u200B\u00AD\uFEFF\u061C\u2028"),
            "[U+2066][U+2069][U+200B][U+00AD][U+FEFF][U+061C][U+2028]");
  EXPECT_EQ(Escaped("\U000E0041\uFFFF"), "[U+E0041][U+FFFF]");
}

TEST(EscapedTest, OtherWritingStays) {
  for (const char* text : {"μs → ±", "שלום", "核", "😀", "\uFFFD", "\u2027\u202F\u2070"})
    EXPECT_EQ(Escaped(text), text);
}

}  // namespace
}  // namespace traceinject
