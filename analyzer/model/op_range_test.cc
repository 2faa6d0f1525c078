// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/op_range.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(OpRangeTest, OperationsBelongWhereTheyStart) {
  RankBuilder builder;
  builder.AddKernel(100, 200, "a");
  builder.AddKernel(150, 400, "b");
  builder.AddKernel(160, 180, "c");
  const OpRange range = StartingIn(builder.ops(), {150, 160});
  EXPECT_EQ(range.begin, 1u);
  EXPECT_EQ(range.end, 2u);
}

TEST(OpRangeTest, OperationWithoutLengthAtTheVeryEndCounts) {
  RankBuilder builder;
  builder.AddKernel(0, 10, "a");
  builder.AddKernel(10, 10, "b");
  EXPECT_EQ(StartingIn(builder.ops(), {0, 10}).end, 2u);
  builder.AddKernel(10, 20, "c");
  EXPECT_EQ(StartingIn(builder.ops(), {0, 10}).end, 1u);
  EXPECT_EQ(StartingIn(builder.ops(), {0, 20}).end, 3u);
}

}  // namespace
}  // namespace traceinject
