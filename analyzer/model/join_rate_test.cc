// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/join_rate.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(JoinRateTest, JoinsAreCounted) {
  RankBuilder builder;
  const std::uint32_t call = builder.AddApi(0, 1, "cudaLaunchKernel");
  builder.AddKernel(0, 10, "a", call);
  builder.AddKernel(20, 30, "b");
  GpuOps& ops = builder.rank().devices.front().ops;
  ops.correlation = {};
  for (const std::uint64_t id : {1, 7}) ops.correlation.push_back(id);
  JoinRate join = CountJoins(builder.rank(), builder.ops(), {0, 2});
  EXPECT_EQ(join.operations, 2);
  EXPECT_EQ(join.joined, 1);
  EXPECT_DOUBLE_EQ(*join.share(), 0.5);
  builder.rank().first_kept_call = 1000;
  join = CountJoins(builder.rank(), builder.ops(), {0, 2});
  EXPECT_EQ(join.operations, 1) << "of the other its call may have been before the recording";
  EXPECT_EQ(join.beyond, 1);
  EXPECT_EQ(CountJoins(builder.rank()).joined, 1);
  EXPECT_FALSE(JoinRate{}.share());
}

}  // namespace
}  // namespace traceinject
