// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/code_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

using Lines = PythonLayout::Lines;

std::string Bytes(std::initializer_list<int> bytes) {
  std::string table;
  for (const int byte : bytes) table.push_back(static_cast<char>(byte));
  return table;
}

TEST(CodeLinesTest, PairsOfWhatAddressAndLineGrowBy) {
  const std::string table = Bytes({0, 1, 6, 1, 4, -1 & 255, 2, 3});
  const auto line = [&](std::int64_t offset) {
    return LineOfInstruction(Lines::kPairs, table, 10, offset);
  };
  EXPECT_EQ(line(0), 11);
  EXPECT_EQ(line(4), 11);
  EXPECT_EQ(line(6), 12);
  EXPECT_EQ(line(10), 11);
  EXPECT_EQ(line(100), 14);
  EXPECT_EQ(line(-1), 10) << "it has not begun";
}

TEST(CodeLinesTest, RangesOfWhichSomeHaveNoLine) {
  const std::string table = Bytes({4, 1, 2, -128 & 255, 8, 2});
  const auto line = [&](std::int64_t offset) {
    return LineOfInstruction(Lines::kRanges, table, 10, offset);
  };
  EXPECT_EQ(line(0), 11);
  EXPECT_EQ(line(2), 11);
  EXPECT_EQ(line(4), 0);
  EXPECT_EQ(line(6), 13);
  EXPECT_EQ(line(14), 0) << "beyond its end";
}

TEST(CodeLinesTest, NumbersTooLargeForLinesAddUpToNone) {
  std::string table;
  for (int i = 0; i < 100; ++i) {
    table.push_back(static_cast<char>(128 | 13 << 3 | 7));
    table += std::string(9, '\x7f') + '\x0f';  // 58 bits and the sign
  }
  EXPECT_EQ(LineOfInstruction(Lines::kLocations, table, 100, 1599), 0);
}

TEST(CodeLinesTest, LocationsOfAllForms) {
  const std::string table = Bytes({
      128 | 0 << 3 | 1, 0x12,                 // short: two units, no change
      128 | 11 << 3 | 0, 4, 9,                // one line further
      128 | 13 << 3 | 0, 3,                   // no columns: back by one
      128 | 14 << 3 | 0, 64 | 8, 2, 0, 1, 1,  // long: 8 + 2 * 64 = 136, further by 68
      128 | 15 << 3 | 0,                      // none
  });
  const auto line = [&](std::int64_t offset) {
    return LineOfInstruction(Lines::kLocations, table, 100, offset);
  };
  EXPECT_EQ(line(0), 100);
  EXPECT_EQ(line(2), 100);
  EXPECT_EQ(line(4), 101);
  EXPECT_EQ(line(6), 100);
  EXPECT_EQ(line(8), 168);
  EXPECT_EQ(line(10), 0);
  EXPECT_EQ(line(12), 0);
}

TEST(CodeLinesTest, TablesThatAreNone) {
  for (const Lines form : {Lines::kPairs, Lines::kRanges, Lines::kLocations}) {
    EXPECT_LE(LineOfInstruction(form, Bytes({1}), 5, 100), 5);
    EXPECT_EQ(LineOfInstruction(form, Bytes({200, 127}), -1000, 100), 0);
    EXPECT_EQ(LineOfInstruction(form, Bytes({128 | 13 << 3, 127, 127, 127, 127}), 5, 0) >= 0, true);
  }
}

}  // namespace
}  // namespace traceinject
