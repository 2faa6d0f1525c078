// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/rank_link.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

const std::optional<HostLink> kHost = HostLink{"PCIe 5.0 x16", 63};

// A rank of two on an H200 with NVLink.
Rank OneOfTwo() {
  Rank rank;
  Communicator communicator;
  communicator.size = 2;
  communicator.nodes = 1;
  rank.communicators = {communicator};
  rank.devices.resize(1);
  rank.devices[0].name = "NVIDIA H200";
  rank.facts = {{"nvlink", "0.0", "active, to 0", ""}, {"nvlink", "1.0", "active, to 0", ""}};
  return rank;
}

void Connect(Rank& rank, const char* transport, const char* network = "") {
  NcclSetup setup;
  setup.communicator = 0;
  setup.size = 2;
  rank.nccl_setups = {setup};
  NcclLink link;
  link.setup = 0;
  link.transport = transport;
  link.network = network;
  rank.nccl_links.push_back(link);
}

NcclLaunch AllReduce(std::int64_t bytes, TimeNs kernel_ns,
                     std::optional<TimeNs> transfer_ns = std::nullopt) {
  NcclLaunch launch;
  launch.function = "AllReduce";
  launch.communicator = 0;
  launch.communicator_size = 2;
  launch.bytes = bytes;
  launch.calls = launch.kernels = 1;
  launch.kernel_ns = kernel_ns;
  launch.transfer_ns = transfer_ns;
  return launch;
}

std::optional<RankLink> Find(const Rank& rank, std::vector<NcclLaunch> launches,
                             const std::optional<HostLink>& host = kHost) {
  NcclLinks links;
  links.launches = std::move(launches);
  return FindRankLink(rank, rank.devices[0], links, {{0, 1000}}, host);
}

TEST(RankLinkTest, LargeOperationsAgainstWhatNcclTold) {
  Rank rank = OneOfTwo();
  Connect(rank, "P2P");
  const auto found =
      Find(rank, {AllReduce(90'000'000, 900'000, 400'000),
                  AllReduce(90'000'000, 100'000'000, 500'000), AllReduce(1'000, 1'000'000)});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->busbw_gb_per_s, 200);
  EXPECT_FALSE(found->waiting_included);
  EXPECT_EQ(found->name, "NVLink");
  EXPECT_DOUBLE_EQ(*found->link_share(), 200.0 / 450);
  EXPECT_EQ(found->reason, "");
}

TEST(RankLinkTest, MoreThanTheLinkCarriesIsNoShareOfIt) {
  Rank rank = OneOfTwo();
  Connect(rank, "SHM");
  const auto found = Find(rank, {AllReduce(90'000'000, 900'000)});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->busbw_gb_per_s, 100);
  EXPECT_DOUBLE_EQ(*found->link_gb_per_s, 63);
  EXPECT_FALSE(found->link_share());
  EXPECT_EQ(found->reason, kAboveLink);
  NcclLaunch nvls = AllReduce(90'000'000, 900'000);
  nvls.algorithm = "NVLS";
  EXPECT_GT(*Find(rank, {nvls})->link_share(), 1) << "switches add up";
}

TEST(RankLinkTest, OneRankCannotTellWaitingFromTransfer) {
  Rank rank = OneOfTwo();
  Connect(rank, "P2P");
  const auto found = Find(rank, {AllReduce(90'000'000, 900'000)});
  EXPECT_TRUE(found->waiting_included);
  EXPECT_DOUBLE_EQ(found->busbw_gb_per_s, 100);
}

TEST(RankLinkTest, TheSlowestWayCounts) {
  Rank by_memory = OneOfTwo(), by_sockets = OneOfTwo();
  Connect(by_memory, "P2P");
  Connect(by_memory, "SHM");
  Connect(by_sockets, "P2P");
  Connect(by_sockets, "NET", "Socket");
  const std::vector<NcclLaunch> large = {AllReduce(90'000'000, 900'000)};
  EXPECT_EQ(Find(by_memory, large)->name, "PCIe 5.0 x16 via host memory");
  EXPECT_DOUBLE_EQ(*Find(by_memory, large)->link_gb_per_s, 63);
  EXPECT_FALSE(Find(by_memory, large, std::nullopt)->link_gb_per_s);
  EXPECT_EQ(Find(by_sockets, large)->name, "TCP sockets");
  EXPECT_FALSE(Find(by_sockets, large)->link_share());
  EXPECT_NE(Find(by_sockets, large)->reason.find("not recorded"), std::string::npos);
}

TEST(RankLinkTest, WhatWasNotRecordedIsSaidNotGuessed) {
  const std::vector<NcclLaunch> large = {AllReduce(90'000'000, 900'000)};
  Rank rank = OneOfTwo();
  EXPECT_EQ(Find(rank, large)->name, "NVLink") << "all ranks on one host, by the card's links";
  EXPECT_NE(Find(rank, large)->reason.find("inferred from the GPU's links"), std::string::npos);
  rank.communicators[0].nodes = 2;
  EXPECT_EQ(Find(rank, large)->name, "");
  EXPECT_FALSE(Find(rank, large)->link_share());
  rank = OneOfTwo();
  rank.facts.push_back({"env", "NCCL_P2P_DISABLE", "1", ""});
  EXPECT_EQ(Find(rank, large)->name, "");
  rank = OneOfTwo();
  rank.facts.clear();
  EXPECT_EQ(Find(rank, large)->name, "");
  rank = OneOfTwo();
  rank.devices[0].name = "Some GPU";
  EXPECT_NE(Find(rank, large)->reason.find("is not known"), std::string::npos);
}

TEST(RankLinkTest, SmallAndUnknownOperationsDoNotCount) {
  const Rank rank = OneOfTwo();
  NcclLaunch unknown = AllReduce(90'000'000, 900'000), late = unknown, send = unknown;
  unknown.communicator_size.reset();
  late.start = 1000;
  send.function = "Send";
  EXPECT_FALSE(Find(rank, {AllReduce(1'000'000, 900'000), unknown, late, send}));
  NcclLaunch nvls = AllReduce(90'000'000, 900'000);
  nvls.algorithm = "NVLS";
  EXPECT_TRUE(Find(rank, {nvls})->nvls);
}

TEST(RankLinkTest, TheNetworkIsWhatTheAdaptersOfTheRankSend) {
  Rank rank = OneOfTwo();
  Connect(rank, "NET", "IB");
  NcclLink& link = rank.nccl_links[0];
  link.sends = true;
  link.net_device = 0;
  EXPECT_EQ(NetworkRate(rank, 0), 0) << "the adapter has no name";
  rank.facts.push_back({"nccl_net", "IB.0", "mlx5_2:1/RoCE", ""});
  EXPECT_EQ(NetworkRate(rank, 0), 0) << "its port is not known";
  rank.facts.push_back({"infiniband", "mlx5_2.1", "ACTIVE, 400 Gb/sec (4X NDR), Ethernet", ""});
  EXPECT_EQ(NetworkRate(rank, 0), 50);
  EXPECT_EQ(NetworkRate(rank, 1), 0) << "of another communicator";
  rank.nccl_links.push_back(link);
  EXPECT_EQ(NetworkRate(rank, 0), 50) << "each adapter counts once";
  rank.nccl_links.back().net_device = 1;
  EXPECT_EQ(NetworkRate(rank, 0), 0) << "one of two is not known";
  rank.facts.push_back({"nccl_net", "IB.1", "mlx5_3:1/IB", ""});
  rank.facts.push_back({"infiniband", "mlx5_3.1", "DOWN, 200 Gb/sec (4X HDR), InfiniBand", ""});
  EXPECT_EQ(NetworkRate(rank, 0), 0);
  rank.facts.back().value = "ACTIVE, 200 Gb/sec (4X HDR), InfiniBand";
  EXPECT_EQ(NetworkRate(rank, 0), 75);
}

}  // namespace
}  // namespace traceinject
