// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/allocation_calls.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

TEST(AllocationCallsTest, ByFunctionLongestFirst) {
  RankBuilder builder;
  builder.AddApi(50, 60, "cudaMalloc");  // before the window
  const auto first = builder.AddApi(100, 140, "cudaMalloc");
  const auto second = builder.AddApi(200, 230, "cudaMalloc");
  builder.AddApi(300, 400, "cudaFree");
  builder.AddApi(500, 510, "cudaLaunchKernel");
  builder.AddApi(990, kOpen, "cudaFree");
  builder.AddApi(1000, 1010, "cudaFree");  // after it
  builder.AddMemory(110, 4096, 0x1000, first);
  builder.AddMemory(210, 512, 0x2000, second);
  builder.rank().api.result = {};
  for (const int result : {0, 0, 2, 0, 0, 0, 0}) builder.rank().api.result.push_back(result);
  AllocationCounter counter;
  counter.Add(builder.rank(), {{100, 1000}});
  counter.Add(builder.rank(), {{100, 1000}});  // another process like it
  const auto calls = counter.Finish();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].api, "cudaFree");
  EXPECT_EQ(calls[0].count, 4);
  EXPECT_EQ(calls[0].total_ns, 200);
  EXPECT_EQ(calls[0].bytes, std::nullopt);
  EXPECT_EQ(calls[1].api, "cudaMalloc");
  EXPECT_EQ(calls[1].count, 4);
  EXPECT_EQ(calls[1].failed, 2);
  EXPECT_EQ(calls[1].total_ns, 140);
  EXPECT_EQ(calls[1].max_ns, 40);
  EXPECT_EQ(calls[1].bytes, 2 * 4608);
}

}  // namespace
}  // namespace traceinject
