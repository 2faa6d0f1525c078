// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/column_ranges.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(ColumnRanges, AreThoseOfTheColumnsThatAreRead) {
  const auto ranges = RangesOf("kernel_shape", "id, name, block_y, registers");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].column, "block_y");
  EXPECT_EQ(ranges[0].index, 2);
  EXPECT_EQ(ranges[0].least, 0);
  EXPECT_EQ(ranges[0].most, 1024);
  EXPECT_EQ(ranges[1].index, 3);
}

TEST(ColumnRanges, LongTablesHaveNone) {
  EXPECT_TRUE(RangesOf("kernel", "start, dur, stream, shape, correlation, graph_node").empty());
  EXPECT_TRUE(RangesOf("api", "start, dur, thread, name, correlation, result").empty());
  EXPECT_TRUE(RangesOf("nowhere", "bytes").empty());
}

TEST(ColumnRanges, WhatOtherProfilersTellIsHeldAgainstThem) {
  EXPECT_EQ(MovedBytes(4096), 4096);
  EXPECT_EQ(MovedBytes(-1), 0);
  EXPECT_EQ(MovedBytes(std::int64_t{1} << 62), 0) << "two of them are no number any more";
  EXPECT_EQ(SharedBytes(1 << 16), 1 << 16);
  EXPECT_EQ(SharedBytes(-892'357'412'926), 0);
}

}  // namespace
}  // namespace traceinject
