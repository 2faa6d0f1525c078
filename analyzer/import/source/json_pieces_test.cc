// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/json_pieces.h"

#include <gtest/gtest.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class JsonPiecesTest : public testing::Test {
 protected:
  // "key=value" and "-element", or the error as the last.
  std::vector<std::string> Split(const std::string& text) {
    const std::string path = folder_ / "file.json";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    auto source = GzipSource::Open(path);
    if (!source.ok()) return {source.error()};
    JsonPieces pieces(source.value(), "list");
    std::vector<std::string> found;
    for (;;) {
      const auto piece = pieces.Next();
      if (!piece.ok()) {
        found.push_back(piece.error());
        return found;
      }
      if (!piece.value()) return found;
      found.push_back(piece.value()->is_element ? "-" + std::string(piece.value()->text)
                                                : std::string(piece.value()->key) + "=" +
                                                      std::string(piece.value()->text));
    }
  }

  TemporaryFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(JsonPiecesTest, MembersAndElements) {
  EXPECT_EQ(
      Split(R"( {"a": 1, "list": [{"x": [1, {}]}, 2 , "s,]"], "b": {"list": [3]}, "c":"d"} )"),
      (Texts{"a=1", "-{\"x\": [1, {}]}", "-2", "-\"s,]\"", "b={\"list\": [3]}", "c=\"d\""}));
  EXPECT_EQ(Split("[1,{\"a\":2}]"), (Texts{"-1", "-{\"a\":2}"}));
  EXPECT_EQ(Split("\xEF\xBB\xBF{\"list\": []}"), Texts{});
  EXPECT_EQ(Split("[1, 2, ]"), (Texts{"-1", "-2"}));
}

TEST_F(JsonPiecesTest, BracketsAndQuotesInStringsAreText) {
  EXPECT_EQ(Split(R"([{"a":"}]\"{["},"\\","\\\"]"])"),
            (Texts{R"(-{"a":"}]\"{["})", R"(-"\\")", R"(-"\\\"]")"}));
}

// Marks on each place of what is looked at together, and bytes that differ from one by a bit.
TEST_F(JsonPiecesTest, MarksAreFoundOnEachPlace) {
  std::string text = "[";
  Texts expected;
  for (std::size_t before = 0; before < 70; ++before) {
    for (std::size_t inside = 0; inside < 70; ++inside) {
      const std::string other(before, before % 2 == 0 ? ' ' : '\x9B');
      const std::string value = "{" + other + "\"" + std::string(inside, 'x') + "\":[" + other +
                                "\"[\\\"]\"" + other + "]" + other + "}";
      text += value + ",";
      expected.push_back("-" + value);
    }
  }
  EXPECT_EQ(Split(text + "]"), expected);
}

TEST_F(JsonPiecesTest, PiecesAcrossBlocksAreWhole) {
  // Strings of backslashes and quotes whose ends fall on every place around the ends of blocks.
  std::string text = "[";
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    std::string element = "{\"k\":\"";
    for (int k = 0; k < 9001 + i; ++k) element += R"(\\\"}])";
    element += "\"}";
    text += (i > 0 ? ",\n" : "") + element;
    expected.push_back("-" + element);
  }
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  EXPECT_EQ(Split(text + "]"), expected);
}

TEST_F(JsonPiecesTest, WhatIsCutOffIsAnError) {
  const std::string whole = R"({"a": 1, "list": [{"x": "y"}], "b": 2})";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const Texts found = Split(whole.substr(0, length));
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found.back().find("not a complete JSON trace"), std::string::npos) << length;
  }
}

TEST_F(JsonPiecesTest, WhatIsNoJsonIsAnError) {
  for (const char* text : {" ", "hello", "{a: 1}", "{\"a\" 1}", "{\"a\": }", "[1]]", "[}", "{} {}",
                           "{\"a\": ,}", "\"x\""}) {
    const Texts found = Split(text);
    ASSERT_FALSE(found.empty()) << text;
    EXPECT_NE(found.back().find("not a complete JSON trace"), std::string::npos) << text;
  }
  EXPECT_NE(Split("").back().find("the file is empty"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
