// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/step_anchors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// A kernel a letter, one after the other.
LaunchSequence Sequence(RankBuilder& builder, const std::string& letters) {
  TimeNs time = 0;
  for (const char letter : letters) {
    const std::uint32_t call = builder.AddApi(time, time + 1, "cudaLaunchKernel");
    builder.AddKernel(time + 2, time + 9, std::string(1, letter), call);
    time += 10;
  }
  return SequenceOf(builder.rank(), builder.ops());
}

std::string Times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(LaunchSequenceTest, FollowsTheLaunchesNotTheDevice) {
  RankBuilder builder;
  const std::uint32_t first = builder.AddApi(0, 1, "cudaLaunchKernel");
  const std::uint32_t second = builder.AddApi(5, 6, "cudaLaunchKernel");
  builder.AddKernel(10, 20, "second", second);
  builder.AddKernel(30, 40, "first", first);
  const LaunchSequence sequence = SequenceOf(builder.rank(), builder.ops());
  ASSERT_EQ(sequence.size(), 2U);
  EXPECT_EQ(sequence.first_op[0], 1U);
  EXPECT_EQ(sequence.first_op[1], 0U);
  EXPECT_EQ(sequence.LengthOf(0, 1), 10);
  EXPECT_EQ(sequence.LengthOf(0, 2), 20);
  EXPECT_EQ(sequence.launched, (std::vector<TimeNs>{0, 5}));
  EXPECT_EQ(sequence.busy_ns, 20);
}

TEST(LaunchSequenceTest, NamesAndShapesAreToldApart) {
  RankBuilder builder;
  for (const int grid : {1, 2, 1})
    builder.AddKernel(grid, grid + 1, "gemm", builder.AddApi(0, 1, "cudaLaunchKernel"), 0, grid);
  const LaunchSequence sequence = SequenceOf(builder.rank(), builder.ops());
  EXPECT_EQ(sequence.names.size(), 1U);
  EXPECT_EQ(sequence.names[0].count, 3U);
  EXPECT_EQ(sequence.shapes.size(), 2U);
}

TEST(LaunchSequenceTest, AllNodesOfAGraphLaunchAreOneElement) {
  RankBuilder builder;
  builder.rank().graph_nodes = {{7, 1}, {7, 2}};
  for (int launch = 0; launch < 2; ++launch) {
    const std::uint32_t call = builder.AddApi(launch * 100, launch * 100 + 1, "cudaGraphLaunch");
    for (int node = 0; node < 2; ++node)
      builder.AddKernel(launch * 100 + node * 10 + 5, launch * 100 + node * 10 + 9, "gemm", call);
  }
  PackedColumn<std::uint32_t> nodes;
  for (const std::uint32_t node : {0U, 1U, 0U, 1U}) nodes.push_back(node);
  builder.ops().graph_node = nodes;
  const LaunchSequence sequence = SequenceOf(builder.rank(), builder.ops());
  ASSERT_EQ(sequence.size(), 2U);
  EXPECT_EQ(sequence.name[0], sequence.name[1]);
  EXPECT_TRUE(sequence.names[0].whole);
}

TEST(StepAnchorsTest, WhatComesOnceAPeriodVotesForTheirNumber) {
  RankBuilder builder;
  // Two layers forward, two backward, an optimizer in a burst.
  const std::vector<PeriodCandidate> found =
      FindPeriods(Sequence(builder, Times("eabcdabcdlpqrspqrsfooooo", 10)));
  ASSERT_FALSE(found.empty());
  const auto steps = std::find_if(found.begin(), found.end(), [](const PeriodCandidate& periods) {
    return periods.count() == 10;
  });
  ASSERT_NE(steps, found.end());
  EXPECT_EQ(steps->length(), 24);
  EXPECT_EQ(steps->name_match, 1);
  // e, l, f and o, by name and by shape.
  EXPECT_EQ(steps->support, 8U);
}

TEST(StepAnchorsTest, WhatComesInGroupsIsNoPeriod) {
  RankBuilder builder;
  // 'a' comes in fours: three short distances and a long one.
  for (const PeriodCandidate& periods :
       FindPeriods(Sequence(builder, Times("axyzuaxyzuaxyzuaxyzu" + std::string(60, 'v'), 10))))
    EXPECT_LE(periods.count(), 10U);
}

TEST(StepAnchorsTest, SamplesAreRunsOfNeighborsFromEverywhere) {
  EXPECT_EQ(SampleOf(3, 64), (std::vector<std::size_t>{0, 1, 2}));
  const std::vector<std::size_t> sample = SampleOf(1'000, 64);
  EXPECT_EQ(sample.size(), 64U);
  EXPECT_EQ(sample.front(), 0U);
  EXPECT_EQ(sample[7], 7U);
  EXPECT_EQ(sample.back(), 999U);
}

TEST(StepAnchorsTest, CountsInSortedPositions) {
  const std::vector<std::uint32_t> positions = {2, 4, 4, 9};
  EXPECT_EQ(CountIn(positions, 2, 9), 3U);
  EXPECT_EQ(CountIn(positions, 5, 9), 0U);
}

}  // namespace
}  // namespace traceinject
