// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/piece_batches.h"

#include <gtest/gtest.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class PieceBatchesTest : public testing::Test {
 protected:
  GzipSource Source(const std::string& text) {
    const std::string path = folder_ / "file.json";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return std::move(GzipSource::Open(path).value());
  }
  static std::string TextOf(const JsonPiece& piece) {
    return piece.is_element ? "-" + std::string(piece.text)
                            : std::string(piece.key) + "=" + std::string(piece.text);
  }

  TemporaryFolder folder_;
};

// One element of each number, of some bytes more.
std::string Element(int number, int bytes) {
  return "{\"n\":" + std::to_string(number) + ",\"text\":\"" +
         std::string(static_cast<std::size_t>(bytes), 'x') + "\"}";
}

TEST_F(PieceBatchesTest, AllPiecesComeInTheirOrder) {
  constexpr int kElements = 20'000;
  std::string text = "{\"first\": 1, \"list\": [";
  std::vector<std::string> expected = {"first=1"};
  for (int i = 0; i < kElements; ++i) {
    // A few are larger than a batch, and than what a batch keeps.
    const int bytes = i % 5000 == 4999 ? 3'000'000 : i % 1000 == 999 ? 300'000 : i % 190;
    text += (i == 0 ? "" : ",") + Element(i, bytes);
    expected.push_back("-" + Element(i, bytes));
  }
  text += "], \"last\": {\"a\": 2}}";
  expected.push_back("last={\"a\": 2}");
  GzipSource source = Source(text);
  PieceBatches batches(source, "list");
  std::size_t seen = 0, handed_out = 0;
  std::uint64_t offset = 0;
  for (;;) {
    const auto batch = batches.Next();
    ASSERT_TRUE(batch.ok());
    if (batch.value() == nullptr) break;
    ++handed_out;
    EXPECT_GE(batch.value()->offset_bytes(), offset);
    offset = batch.value()->offset_bytes();
    for (std::size_t i = 0; i < batch.value()->size(); ++i, ++seen) {
      const JsonPiece piece = (*batch.value())[i];
      ASSERT_LT(seen, expected.size());
      ASSERT_EQ(TextOf(piece), expected[seen]);
      // Parsers read beyond the end.
      int sum = 0;
      for (std::size_t beyond = 0; beyond < JsonPieces::kPadding; ++beyond)
        sum += *(piece.text.data() + piece.text.size() + beyond);
      EXPECT_LT(sum, 256 * 64);
    }
  }
  EXPECT_EQ(seen, expected.size());
  EXPECT_GT(handed_out, 10U);
  ASSERT_TRUE(batches.Next().ok()) << "the end stays the end";
}

TEST_F(PieceBatchesTest, WhatIsBeforeAnErrorIsHandedOut) {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) text += Element(i, 100) + ",";
  GzipSource source = Source(text + "{\"n\":");
  PieceBatches batches(source, "list");
  std::size_t seen = 0;
  for (;;) {
    const auto batch = batches.Next();
    if (!batch.ok()) {
      EXPECT_NE(batch.error().find("truncated inside the value"), std::string::npos);
      break;
    }
    ASSERT_NE(batch.value(), nullptr);
    seen += batch.value()->size();
  }
  EXPECT_EQ(seen, 5000U);
  EXPECT_FALSE(batches.Next().ok()) << "it stays broken";
}

TEST_F(PieceBatchesTest, ItCanBeGivenUpAnywhere) {
  std::string text = "[";
  for (int i = 0; i < 50'000; ++i) text += Element(i, 100) + ",";
  for (int taken = 0; taken < 6; ++taken) {
    GzipSource source = Source(text);
    PieceBatches batches(source, "list");
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(batches.Next().ok());
  }
}

}  // namespace
}  // namespace traceinject
