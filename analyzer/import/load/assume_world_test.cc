// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/assume_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr char kAllReduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)";

Rank ProcessWith(std::int64_t pid, int all_reduces, std::size_t devices = 1) {
  RankBuilder builder;
  while (builder.rank().devices.size() < devices) builder.AddDevice("NVIDIA H200");
  for (int i = 0; i < all_reduces; ++i) {
    for (std::size_t device = 0; device < devices; ++device)
      builder.AddKernel(100 * i, 100 * i + 50, kAllReduce, kNone, device);
  }
  Rank rank = builder.rank();
  rank.process.pid = pid;
  rank.imported_from = "a trace";
  return rank;
}

std::vector<Rank> Read(std::vector<Rank> ranks) {
  AssumeWorld(ranks);
  return ranks;
}

bool IsAssumed(const std::vector<Rank>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [](const Rank& rank) {
    return !rank.communicators.empty() && rank.communicators.front().hash == kAssumedWorld;
  });
}

TEST(AssumeWorldTest, ProcessesWithTheSameKernelsAreRanksInTheOrderOfTheirNumbers) {
  const std::vector<Rank> ranks =
      Read({ProcessWith(9, 100), ProcessWith(7, 99), ProcessWith(8, 0)});
  ASSERT_EQ(ranks[0].communicators.size(), 1U);
  EXPECT_EQ(ranks[0].communicators[0].hash, kAssumedWorld);
  EXPECT_EQ(ranks[0].communicators[0].rank, 1);
  EXPECT_EQ(ranks[0].communicators[0].size, 2);
  EXPECT_EQ(ranks[1].communicators.at(0).rank, 0);
  EXPECT_TRUE(ranks[2].communicators.empty()) << "it communicates with none";
  EXPECT_FALSE(ranks[0].rank) << "of the job";
}

TEST(AssumeWorldTest, NothingIsAssumedOfOneOrOfDifferentOnes) {
  EXPECT_FALSE(IsAssumed(Read({ProcessWith(1, 100)})));
  EXPECT_FALSE(IsAssumed(Read({ProcessWith(1, 100), ProcessWith(2, 90)})));
  EXPECT_FALSE(IsAssumed(Read({ProcessWith(1, 100, 2), ProcessWith(2, 100, 2)})))
      << "which GPU has which rank is not known";
}

TEST(AssumeWorldTest, ASentenceSaysSo) {
  traceinject::Run run;
  run.ranks = Read({ProcessWith(1, 10), ProcessWith(2, 10)});
  EXPECT_NE(DescribeAssumed(run).find("its 2 processes"), std::string::npos);
  run.ranks = Read({ProcessWith(1, 10)});
  EXPECT_EQ(DescribeAssumed(run), "");
}

TEST(AssumeWorldTest, OfCallsWithoutACommunicatorTheSentenceIsNot) {
  RankBuilder builder;
  builder.AddCall({0, 10, "AllReduce", 8, 0});
  traceinject::Run run;
  run.ranks = {builder.rank()};
  run.ranks[0].communicators.emplace_back().hash = kAssumedWorld;
  EXPECT_EQ(DescribeAssumed(run), "") << "a trace of one process that does not tell its rank";
}

TEST(AssumeWorldTest, WhatATraceTellsCounts) {
  std::vector<Rank> ranks = {ProcessWith(1, 10), ProcessWith(2, 10)};
  ranks[1].rank = 1;
  EXPECT_FALSE(IsAssumed(Read(ranks)));
  ranks[1].rank.reset();
  ranks[0].imported_from.clear();
  EXPECT_FALSE(IsAssumed(Read(ranks))) << "recordings tell of NCCL, if it was there";
  ranks[0].imported_from = "a trace";
  ranks[0].communicators.emplace_back().hash = 5;
  EXPECT_FALSE(IsAssumed(Read(ranks)));
}

}  // namespace
}  // namespace traceinject
