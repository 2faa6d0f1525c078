// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/list_collectives.h"

#include <gtest/gtest.h>

#include "analyzer/ranks/testing/job_builder.h"

namespace traceinject {
namespace {

// Three operations of two ranks: a long one, one to which they came far apart, and a short one.
Job ThreeOperations() {
  JobBuilder builder;
  for (const char* host : {"a", "b"}) builder.AddRank(host);
  builder.AddGroup(7, {0, 1});
  builder.AddOperation(0, 7, {0, 5'000}, 0);
  builder.AddOperation(1, 7, {0, 5'000}, 0);
  builder.AddOperation(0, 7, {10'000, 14'000}, 3'000);
  builder.AddOperation(1, 7, {13'500, 14'000}, 500);
  builder.AddOperation(0, 7, {20'000, 20'100}, 0);
  builder.AddOperation(1, 7, {20'000, 20'100}, 0);
  return builder.job;
}

TEST(ListCollectivesTest, TheFirstByEachFigure) {
  const Job job = ThreeOperations();
  proto::Ranks ranks;
  ListCollectives(job, MatchRanks(job).groups, 1, ranks);
  EXPECT_EQ(ranks.matched_operations(), 3);
  EXPECT_EQ(ranks.incomplete_operations(), 0);
  ASSERT_EQ(ranks.collectives_size(), 2);
  EXPECT_EQ(ranks.collectives(0).length_ns(), 5'000);
  const proto::Collective& apart = ranks.collectives(1);
  EXPECT_EQ(apart.skew_ns(), 3'500);
  EXPECT_EQ(apart.transfer_ns(), 500);
  EXPECT_EQ(apart.exposed_ns(), 1'750);
  EXPECT_EQ(apart.last_row(), 1);
  EXPECT_EQ(apart.communicator(), "0x7");
  EXPECT_FALSE(apart.has_sequence());
}

TEST(ListCollectivesTest, NoneAskedFor) {
  const Job job = ThreeOperations();
  proto::Ranks ranks;
  ListCollectives(job, MatchRanks(job).groups, 0, ranks);
  EXPECT_EQ(ranks.collectives_size(), 0);
  EXPECT_EQ(ranks.matched_operations(), 3);
}

}  // namespace
}  // namespace traceinject
