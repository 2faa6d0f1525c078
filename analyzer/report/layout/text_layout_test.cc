// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_layout.h"

#include <gtest/gtest.h>

#include <sstream>

namespace traceinject {
namespace {

TEST(TextLayoutTest, SentencesAreBrokenAtSpacesWithinTheWidth) {
  TextPage page(false);
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + " ";
  page.Sentence(words, 4);
  std::istringstream lines(page.text());
  std::string line, joined;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), kTextWidth);
    const std::size_t indent = line.find_first_not_of(' ');
    EXPECT_EQ(indent, count++ == 0 ? 4u : 6u);
    joined += line.substr(indent) + " ";
  }
  EXPECT_EQ(joined, words);
  EXPECT_GT(count, 3);
}

TEST(TextLayoutTest, LinesOfCodeStayWholeAndSteerNoTerminal) {
  TextPage page(false, 60);
  const std::string wide(100, 'x');
  page.Code("+\tif " + wide + "\n-\x1b[2J\n");
  EXPECT_EQ(page.text(), "    +\tif " + wide + "\n    - [2J\n");
}

TEST(TextLayoutTest, SentencesFitANarrowTerminal) {
  TextPage page(false, 60);
  std::string text = "word";
  for (int i = 0; i < 60; ++i) text += " word";
  page.Sentence(text);
  EXPECT_GT(page.text().find('\n'), 50U);
  EXPECT_LE(page.text().find('\n'), 60U);
  TextPage narrowest(false, 3);
  narrowest.Sentence(text);
  EXPECT_GT(narrowest.text().find('\n'), 40U) << "not one word a line";
}

TEST(TextLayoutTest, WordsLongerThanTheLineStayWhole) {
  TextPage page(false);
  page.Sentence(std::string(150, 'x'));
  EXPECT_EQ(page.text(), "  " + std::string(150, 'x') + "\n");
}

TEST(TextLayoutTest, ColorsOnlyWhereWanted) {
  EXPECT_EQ(TextPage(false).Colored("bad", 31), "bad");
  EXPECT_EQ(TextPage(true).Colored("bad", 31), "\033[31mbad\033[0m");
  TextPage page(true);
  page.Heading("Title");
  EXPECT_EQ(page.text(), "\n\033[1mTitle\033[0m\n");
}

TEST(TextLayoutTest, TablesAlign) {
  TextPage page(false);
  page.Table({{"name", "count"}, {"a", "1"}, {"bcdef", "22"}}, 1, 1);
  EXPECT_EQ(page.text(), "  name   count\n  a          1\n  bcdef     22\n");
}

}  // namespace
}  // namespace traceinject
