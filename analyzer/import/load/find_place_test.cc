// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/find_place.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::uint64_t kWorld = 0xabc, kOther = 0xdef;

Communicator Group(std::uint64_t hash, int size, std::optional<int> rank, TimeNs created = 0,
                   std::optional<int> nodes = std::nullopt) {
  Communicator group;
  group.hash = hash;
  group.created = created;
  group.size = size;
  group.rank = rank;
  group.nodes = nodes;
  return group;
}

Rank Process(std::vector<Communicator> communicators) {
  Rank rank;
  rank.run_id = "host:1:2";
  rank.communicators = std::move(communicators);
  return rank;
}

TEST(FindPlaceTest, ByTheLargestCommunicatorAndOfEqualOnesTheFirst) {
  Rank rank = Process({Group(1, 2, 0), Group(kOther, 4, 1, 9), Group(kWorld, 4, 3, 5, 1)});
  FindPlaceByCommunicator(rank);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.process.world_size, 4);
  EXPECT_EQ(rank.process.local_world_size, 4);
  EXPECT_EQ(rank.run_id, "nccl:0000000000000abc");
}

TEST(FindPlaceTest, OfSeveralHostsThePlaceOnItsOwnIsNotKnown) {
  Rank rank = Process({Group(kWorld, 4, 3, 0, 2)});
  FindPlaceByCommunicator(rank);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.process.local_rank, std::nullopt);
}

TEST(FindPlaceTest, WhatALauncherToldStays) {
  Rank rank = Process({Group(kWorld, 4, 3)});
  rank.rank = 7;
  FindPlaceByCommunicator(rank);
  EXPECT_EQ(rank.rank, 7);
  EXPECT_EQ(rank.run_id, "host:1:2");
}

TEST(FindPlaceTest, NoneOfAProcessThatDrivesSeveralRanksOrIsAlone) {
  for (const auto& communicators :
       std::vector<std::vector<Communicator>>{{Group(kWorld, 2, 0), Group(kWorld, 2, 1)},
                                              {Group(kWorld, 1, 0)},
                                              {Group(0, 2, 0)},
                                              {Group(kWorld, 2, std::nullopt)},
                                              {}}) {
    Rank rank = Process(communicators);
    FindPlaceByCommunicator(rank);
    EXPECT_EQ(rank.rank, std::nullopt);
    EXPECT_EQ(rank.run_id, "host:1:2");
  }
}

// Only groups within the job have talked.
TEST(FindPlaceTest, NoneWhereTheJobIsLarger) {
  Rank rank = Process({Group(kWorld, 2, 1)});
  rank.facts = {{"environment", "WORLD_SIZE", "8", ""}};
  FindPlaceByCommunicator(rank);
  EXPECT_EQ(rank.rank, std::nullopt);
}

}  // namespace
}  // namespace traceinject
