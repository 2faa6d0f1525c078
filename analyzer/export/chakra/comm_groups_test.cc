// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/comm_groups.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Communicator Member(std::uint64_t hash, int size, int rank) {
  Communicator communicator;
  communicator.hash = hash;
  communicator.size = size;
  communicator.rank = rank;
  return communicator;
}

Rank RankOf(int rank, std::vector<Communicator> communicators) {
  Rank made;
  made.rank = rank;
  made.communicators = std::move(communicators);
  return made;
}

TEST(CommGroups, HaveTheRanksThatTheRecordingsTell) {
  traceinject::Run run;
  run.ranks = {RankOf(4, {Member(0xa, 2, 1), Member(0xb, 3, 0)}),
               RankOf(6, {Member(0xb, 3, 2), Member(0xa, 2, 0)})};
  const CommGroups groups(run);
  EXPECT_EQ(groups.NumberOf(0, 0), groups.NumberOf(1, 1));
  EXPECT_NE(groups.NumberOf(0, 0), groups.NumberOf(0, 1));
  EXPECT_EQ(groups.NumberOf(0, kNone), 0);
  EXPECT_EQ(groups.MemberOf(0, 0, 0), 6);
  EXPECT_EQ(groups.MemberOf(1, 1, 1), 4);
  EXPECT_EQ(groups.MemberOf(0, 1, 1), std::nullopt) << "its recording is not here";
  EXPECT_EQ(groups.Json(), "{\n  \"1\": [6, 4]\n}\n") << "of the other one rank is not known";
}

TEST(CommGroups, RanksWithoutNumbersOfTheirOwnAreCounted) {
  traceinject::Run run;
  run.ranks = {RankOf(3, {}), RankOf(1, {})};
  EXPECT_EQ(NumbersOfRanks(run), (std::vector<int>{3, 1}));
  run.ranks[1].rank = 3;
  EXPECT_EQ(NumbersOfRanks(run), (std::vector<int>{0, 1}));
  run.ranks[1].rank.reset();
  EXPECT_EQ(NumbersOfRanks(run), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace traceinject
