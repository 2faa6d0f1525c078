// SPDX-License-Identifier: Apache-2.0
// How NCCL connects ranks and executes operations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadNcclTest = ReadFixture;

TEST_F(ReadNcclTest, HowNcclConnectsRanks) {
  RunDbFixture file(path_);
  file.AddCommunicator({.hash = 7, .size = 2, .rank = 0});
  file.Execute(
      "INSERT INTO string VALUES (901, 'Socket'), (902, 'NET'), (903, 'GDRDMA'), (904, 'P2P')");
  file.Execute(
      "INSERT INTO nccl_setup VALUES (1, 1, NULL, 0, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL, "
      "NULL, 0), (2, 1, 1, 3, 8, 0, 2, 901, 24, 25, 26, 27, 28, 29, 1)");
  file.Execute(
      "INSERT INTO nccl_link VALUES (1, 1, 2, 3, 4, 1, 902, 903, 901, 5, 1, 6, 24), (2, 1, NULL, "
      "0, "
      "NULL, 0, 904, NULL, NULL, NULL, NULL, NULL, 2)");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_TRUE(read.notes.empty());
  const std::vector<NcclSetup>& setups = read.ranks.at(0).nccl_setups;
  ASSERT_EQ(setups.size(), 2u);
  EXPECT_EQ(setups[0].communicator, kNone);
  EXPECT_EQ(setups[0].device, 1);
  EXPECT_EQ(setups[0].nodes, std::nullopt);
  EXPECT_EQ(setups[0].network, "");
  EXPECT_FALSE(setups[0].nvls);
  EXPECT_EQ(setups[1].communicator, 0u);
  EXPECT_EQ(setups[1].rank, 3);
  EXPECT_EQ(setups[1].size, 8);
  EXPECT_EQ(setups[1].nodes, 2);
  EXPECT_EQ(setups[1].network, "Socket");
  EXPECT_EQ(setups[1].rings, 24);
  EXPECT_EQ(setups[1].trees, 25);
  EXPECT_EQ(setups[1].channels, 26);
  EXPECT_EQ(setups[1].nvls_channels, 27);
  EXPECT_EQ(setups[1].p2p_channels, 28);
  EXPECT_TRUE(setups[1].nvls);
  const std::vector<NcclLink>& links = read.ranks[0].nccl_links;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].setup, 1u);
  EXPECT_EQ(links[0].rank, 3);
  EXPECT_EQ(links[0].peer, 4);
  EXPECT_TRUE(links[0].sends);
  EXPECT_EQ(links[0].transport, "NET");
  EXPECT_EQ(links[0].detail, "GDRDMA");
  EXPECT_EQ(links[0].network, "Socket");
  EXPECT_EQ(links[0].net_device, 5);
  EXPECT_EQ(links[0].gdrdma, true);
  EXPECT_EQ(links[0].channels, 24);
  EXPECT_EQ(links[1].setup, kNone);
  EXPECT_EQ(links[1].peer, std::nullopt);
  EXPECT_FALSE(links[1].sends);
  EXPECT_EQ(links[1].gdrdma, std::nullopt);
}

TEST_F(ReadNcclTest, ConnectionsOfWhatIsNotThere) {
  RunDbFixture file(path_);
  file.Execute(
      "INSERT INTO nccl_setup VALUES (1, 1, 77, 0, 2, 1, NULL, 99, NULL, NULL, NULL, NULL, NULL, "
      "NULL, 0), (2, 5, NULL, 0, 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0)");
  file.Execute(
      "INSERT INTO nccl_link VALUES (1, 1, 9, 0, 1, 1, 99, NULL, NULL, NULL, NULL, NULL, 2), "
      "(2, 5, NULL, 0, 1, 1, 99, NULL, NULL, NULL, NULL, NULL, 2)");
  file.Close();
  const RecordedFile read = Read();
  EXPECT_EQ(read.notes.size(), 4u);
  ASSERT_EQ(read.ranks.at(0).nccl_setups.size(), 1u);
  EXPECT_EQ(read.ranks[0].nccl_setups[0].communicator, kNone);
  ASSERT_EQ(read.ranks[0].nccl_links.size(), 1u);
  EXPECT_EQ(read.ranks[0].nccl_links[0].setup, kNone);
  EXPECT_EQ(read.ranks[0].nccl_links[0].transport, "");
}

// How operations were executed came with version 3.
TEST_F(ReadNcclTest, PlansAreReadWithTheirLaunches) {
  RunDbFixture file(path_);
  const std::uint32_t group = file.AddCommunicator({.size = 8, .nodes = 2, .name = "dp"});
  // Out of order: the second one came first.
  const std::int64_t late = file.AddCollective({.start_ns = 500, .dur_ns = 100});
  const std::int64_t early =
      file.AddCollective({.start_ns = 100, .dur_ns = 100, .communicator = group});
  file.AddApi({.start_ns = 520, .dur_ns = 5});
  file.AddApi({.start_ns = 120, .dur_ns = 5});
  file.AddApi({.start_ns = 140, .dur_ns = 5});
  file.AddPlan({.collective = late,
                .time_ns = 540,
                .sequence = std::nullopt,
                .datatype = "",
                .algorithm = "",
                .protocol = "",
                .channels = std::nullopt,
                .warps = std::nullopt});
  file.AddPlan({.collective = early, .time_ns = 160, .launch_start_ns = 135, .launch_dur_ns = 20});
  file.AddPlan({.collective = early,
                .time_ns = 150,
                .sequence = 4,
                .count = 77,
                .launch_start_ns = 110,
                .launch_dur_ns = 20});
  file.AddPlan({.collective = early, .time_ns = 170, .launch_start_ns = 170, .launch_dur_ns = 1});
  file.AddPlan({.collective = 99, .time_ns = 1});
  file.Close();

  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  EXPECT_EQ(rank.communicators.at(0).name, "dp");
  EXPECT_EQ(rank.communicators.at(0).nodes, 2);
  EXPECT_EQ(rank.collectives.start, (TimeColumn{100, 500}));
  EXPECT_EQ(rank.collectives.plan, (std::vector<std::uint32_t>{0, 3}));
  const CollectivePlans& plans = rank.plans;
  EXPECT_EQ(plans.collective, (std::vector<std::uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(plans.time, (std::vector<TimeNs>{150, 160, 170, 540}));
  EXPECT_EQ(plans.launch, (std::vector<std::uint32_t>{0, 1, kNone, 2}));
  EXPECT_EQ(plans.sequence, (std::vector<std::int64_t>{4, 0, 0, -1}));
  EXPECT_EQ(plans.count[0], 77);
  EXPECT_EQ(rank.string(plans.algorithm[0]), "RING");
  EXPECT_EQ(plans.algorithm[3], kNone);
  EXPECT_EQ(plans.channels, (std::vector<std::int32_t>{24, 24, 24, -1}));
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_NE(read.notes[0].find("collective_plan"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
