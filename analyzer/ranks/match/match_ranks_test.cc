// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/match_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

JobPlan LayoutPlan(int tensor, int data, int pipeline) {
  return DisturbedLayout(tensor, data, pipeline, 2);
}

struct Score {
  std::size_t right = 0, wrong = 0;  // pairs of records in one operation
  std::size_t missed = 0;            // operations that two ranks recorded and that are split
};

// Every matched operation against the truth.
Score Check(const SimulatedJob& simulated, const RankMatches& matches) {
  Score score;
  std::map<std::tuple<std::uint64_t, int, std::uint32_t>, int> parts;  // of each true operation
  for (const MatchedGroup& group : matches.groups) {
    for (std::size_t at = 0; at < group.operations; ++at) {
      std::set<std::uint32_t> numbers;
      int recorded = 0, pair = -1;
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        const std::uint32_t row = group.row(at, m);
        if (row == kNone) continue;
        const auto [summary, own] = group.members[m];
        numbers.insert(simulated.truth.ranks[summary].groups[own].operation[row]);
        const GroupOperations& of = simulated.job.ranks[summary].groups[own];
        if (group.pair) pair = std::min(of.rank, of.peer[row]);
        ++recorded;
      }
      (numbers.size() == 1 ? score.right : score.wrong) += 1;
      for (const std::uint32_t number : numbers) ++parts[{group.hash, pair, number}];
    }
  }
  std::map<std::tuple<std::uint64_t, int, std::uint32_t>, int> recorded;
  for (std::size_t r = 0; r < simulated.job.ranks.size(); ++r) {
    const RankSummary& rank = simulated.job.ranks[r];
    for (std::size_t g = 0; g < rank.groups.size(); ++g) {
      for (std::size_t i = 0; i < rank.groups[g].count(); ++i) {
        const int peer = rank.groups[g].peer[i];
        ++recorded[{rank.groups[g].hash, peer < 0 ? -1 : std::min(peer, rank.groups[g].rank),
                    simulated.truth.ranks[r].groups[g].operation[i]}];
      }
    }
  }
  for (const auto& [key, count] : recorded) score.missed += count > 1 && parts[key] != 1;
  return score;
}

TEST(MatchRanksTest, MatchesAreTrueInEveryLayout) {
  for (const auto& [tensor, data, pipeline] :
       {std::tuple(1, 8, 1), std::tuple(8, 1, 1), std::tuple(2, 4, 1), std::tuple(1, 2, 4),
        std::tuple(2, 2, 2), std::tuple(4, 4, 4)}) {
    for (const bool sharded : {false, true}) {
      if (sharded && pipeline > 1) continue;
      for (const bool told : {false, true}) {
        JobPlan plan = LayoutPlan(tensor, data, pipeline);
        plan.sharded = sharded;
        plan.tell_sequences = told;
        const SimulatedJob simulated = SimulateJob(plan, 5);
        const RankMatches matches = MatchRanks(simulated.job);
        const Score score = Check(simulated, matches);
        EXPECT_GT(score.right, 200u);
        EXPECT_EQ(score.wrong, 0u) << tensor << data << pipeline << sharded << told;
        EXPECT_EQ(score.missed, 0u) << tensor << data << pipeline << sharded << told;
        EXPECT_TRUE(matches.notes.empty());
      }
    }
  }
}

TEST(MatchRanksTest, MatchesAreTrueForManySeeds) {
  Score all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    JobPlan plan = LayoutPlan(seed % 2 == 0 ? 1 : 4, seed % 2 == 0 ? 8 : 2, 1);
    plan.parts = {{static_cast<int>(seed % 8), seed % 3 == 0 ? 0.3 : 0, seed % 5 == 0 ? 0.8 : 1}};
    const SimulatedJob simulated = SimulateJob(plan, seed);
    const Score score = Check(simulated, MatchRanks(simulated.job));
    all.right += score.right;
    all.wrong += score.wrong;
    all.missed += score.missed;
  }
  EXPECT_EQ(all.wrong, 0u);
  EXPECT_LE(all.missed, all.right / 10'000);
  RecordProperty("operations", static_cast<int>(all.right));
  RecordProperty("missed", static_cast<int>(all.missed));
}

TEST(MatchRanksTest, MembersAreByRankAndRowsByOrder) {
  SimulatedJob simulated = SimulateJob(LayoutPlan(1, 4, 1));
  std::swap(simulated.job.ranks[0], simulated.job.ranks[2]);
  const RankMatches matches = MatchRanks(simulated.job);
  ASSERT_EQ(matches.groups.size(), 1u);
  const MatchedGroup& group = matches.groups[0];
  EXPECT_EQ(group.size, 4);
  EXPECT_EQ(group.name, "DATA_PARALLEL_GROUP");
  EXPECT_EQ(group.members[0].summary, 2u);
  EXPECT_EQ(group.members[1].summary, 1u);
  EXPECT_EQ(group.members[2].summary, 0u);
  EXPECT_EQ(group.operations, 2 + 30u * 8);
  for (std::size_t m = 0; m < 4; ++m) {
    std::uint32_t before = kNone;
    for (std::size_t at = 0; at < group.operations; ++at) {
      const std::uint32_t row = group.row(at, m);
      if (row == kNone) continue;
      EXPECT_TRUE(before == kNone || row > before);
      before = row;
    }
  }
  EXPECT_EQ(KindOf(simulated.job, group, 0).function, "Broadcast");
}

TEST(MatchRanksTest, SendsAreMatchedWithTheRecvsOfTheirPeer) {
  const SimulatedJob simulated = SimulateJob(LayoutPlan(1, 1, 4));
  const RankMatches matches = MatchRanks(simulated.job);
  int pairs = 0;
  for (const MatchedGroup& group : matches.groups) {
    if (!group.pair) continue;
    ++pairs;
    ASSERT_EQ(group.members.size(), 2u);
    for (std::size_t at = 0; at < group.operations; ++at) {
      const auto function = [&](std::size_t m) {
        const auto [summary, own] = group.members[m];
        const RankSummary& rank = simulated.job.ranks[summary];
        return group.row(at, m) == kNone
                   ? std::string()
                   : rank.kinds[rank.groups[own].kind[group.row(at, m)]].function;
      };
      const std::string a = function(0), b = function(1);
      EXPECT_TRUE((a == "Send" && b == "Recv") || (a == "Recv" && b == "Send") ||
                  (a == "Send+Recv" && b == "Send+Recv"))
          << a << " " << b;
    }
  }
  EXPECT_EQ(pairs, 3);
}

// Without one row of every column of a group.
void Erase(GroupOperations& group, std::size_t row) {
  const auto erase = [&](auto& column) {
    column.erase(column.begin() + static_cast<std::ptrdiff_t>(row));
  };
  erase(group.start), erase(group.end), erase(group.launch), erase(group.exposed_ns);
  erase(group.kind), erase(group.peer), erase(group.sequence), erase(group.step);
}

JobPlan Perfect(int data) {
  JobPlan plan = LayoutPlan(1, data, 1);
  plan.missing = 0;
  return plan;
}

TEST(MatchRanksTest, WhatOneRankLacksIsToldOnce) {
  Job job = SimulateJob(Perfect(4)).job;
  EXPECT_TRUE(MatchRanks(job).mismatches.empty());
  Erase(job.ranks[2].groups[0], 100);
  Erase(job.ranks[2].groups[0], 40);
  const std::vector<Mismatch> found = MatchRanks(job).mismatches;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Mismatch::Kind::kLacks);
  EXPECT_EQ(found[0].rank, 2);
  EXPECT_EQ(found[0].operations, 2);
  EXPECT_EQ(found[0].sentence,
            "On DATA_PARALLEL_GROUP (of 4 ranks) rank 2 has no record of 2 operations that the "
            "others have, the first AllReduce of 50331648 bytes.");
}

TEST(MatchRanksTest, AnotherOperationOrSizeIsTold) {
  for (const int data : {2, 4}) {
    for (const bool told : {false, true}) {
      JobPlan plan = Perfect(data);
      plan.tell_sequences = told;
      Job job = SimulateJob(plan).job;
      RankSummary& rank = job.ranks[1];
      rank.kinds.push_back({"AllReduce", 4096});
      rank.groups[0].kind[60] = static_cast<std::uint32_t>(rank.kinds.size() - 1);
      std::vector<Mismatch> found = MatchRanks(job).mismatches;
      ASSERT_EQ(found.size(), 1u) << data << told;
      EXPECT_EQ(found[0].kind, Mismatch::Kind::kOtherSize);
      EXPECT_EQ(found[0].rank, 1);
      EXPECT_EQ(found[0].operations, 1);
      rank.kinds.back() = {"AllGather", 4096};
      found = MatchRanks(job).mismatches;
      ASSERT_GE(found.size(), 1u);
      EXPECT_EQ(found[0].kind, Mismatch::Kind::kOtherOperation);
      EXPECT_EQ(found[0].rank, 1);
    }
  }
}

TEST(MatchRanksTest, ARankThatEndsBeforeTheOthersIsTold) {
  JobPlan plan = Perfect(8);
  plan.dead = 3;
  plan.dead_step = 20;
  const Job died = SimulateJob(plan).job;
  for (const Mismatch& one : MatchRanks(died).mismatches) EXPECT_EQ(one.rank, 3);
  Job job = SimulateJob(Perfect(4)).job;
  GroupOperations& group = job.ranks[3].groups[0];
  for (int i = 0; i < 12; ++i) Erase(group, group.count() - 1);
  const std::vector<Mismatch> found = MatchRanks(job).mismatches;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Mismatch::Kind::kEndsBefore);
  EXPECT_EQ(found[0].operations, 12);
  // One whose recording ended earlier has nothing to answer for.
  plan = Perfect(4);
  plan.parts = {{2, 0, 0.5}};
  EXPECT_TRUE(MatchRanks(SimulateJob(plan).job).mismatches.empty());
}

TEST(MatchRanksTest, ARankThatFitsNothingIsNamed) {
  Job job = SimulateJob(Perfect(4)).job;
  const GroupOperations other = SimulateJob(Perfect(4), 77).job.ranks[1].groups[0];
  GroupOperations& group = job.ranks[1].groups[0];
  group.start = other.start, group.end = other.end;
  for (std::size_t i = 0; i < group.count(); ++i)  // of work that took otherwise
    group.start[i] += static_cast<TimeNs>(i * i % 977) * 100'000,
        group.end[i] += static_cast<TimeNs>(i * i % 977) * 100'000;
  const RankMatches matches = MatchRanks(job);
  EXPECT_TRUE(matches.mismatches.empty());
  ASSERT_EQ(matches.notes.size(), 1u);
  EXPECT_EQ(
      matches.notes[0],
      "The operations of rank 1 on DATA_PARALLEL_GROUP match none of the other ranks' operations.");
}

TEST(MatchRanksTest, WhatIsNotKnownIsCounted) {
  Job job = SimulateJob(Perfect(4)).job;
  job.ranks[1].groups[0].hash = 0;
  const RankMatches matches = MatchRanks(job);
  ASSERT_EQ(matches.groups.size(), 1u);
  EXPECT_EQ(matches.groups[0].members.size(), 3u);
  ASSERT_EQ(matches.notes.size(), 1u);
  EXPECT_NE(matches.notes[0].find("242 operations"), std::string::npos);
  job.ranks[1].groups[0].hash = job.ranks[0].groups[0].hash;
  job.ranks[1].groups[0].rank = 0;
  EXPECT_NE(MatchRanks(job).notes[0].find("1 recordings claim"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
