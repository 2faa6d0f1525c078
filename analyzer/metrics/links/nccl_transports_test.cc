// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/nccl_transports.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::uint64_t kHash = 0xabc;

// A process with one communicator, of which it is the rank.
Rank Process(int rank, int size, const std::string& host = "a", std::uint64_t hash = kHash) {
  Rank process;
  process.process.host = host;
  Communicator communicator;
  communicator.hash = hash;
  process.communicators.push_back(communicator);
  NcclSetup setup;
  setup.communicator = 0;
  setup.rank = rank;
  setup.size = size;
  setup.nodes = 1;
  setup.network = "Socket";
  setup.rings = setup.channels = 24;
  process.nccl_setups.push_back(setup);
  return process;
}

NcclLink Link(int rank, std::optional<int> peer, const std::string& transport,
              const std::string& detail, const std::string& network = "", bool gdrdma = false,
              int channels = 24) {
  NcclLink link;
  link.setup = 0;
  link.rank = rank;
  link.peer = peer;
  link.sends = true;
  link.transport = transport;
  link.detail = detail;
  link.network = network;
  if (!network.empty()) link.gdrdma = gdrdma;
  link.channels = channels;
  return link;
}

using Sentences = std::vector<std::string>;

Sentences TextsOf(const std::vector<NcclRemark>& remarks) {
  Sentences texts;
  for (const NcclRemark& remark : remarks) texts.push_back(remark.text);
  return texts;
}

TEST(NcclTransportsTest, BothEndsOfAPairAreOnePair) {
  traceinject::Run run;
  for (int rank = 0; rank < 2; ++rank) {
    run.ranks.push_back(Process(rank, 2));
    run.ranks.back().nccl_links = {Link(rank, 1 - rank, "P2P", "CUMEM", "", false, 24 + rank)};
  }
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size, 2);
  EXPECT_EQ(found[0].communicators, 1);
  EXPECT_EQ(found[0].ranks_told, 2);
  EXPECT_EQ(found[0].nodes, 1);
  EXPECT_EQ(found[0].network, "Socket");
  EXPECT_EQ(found[0].rings, 24);
  EXPECT_EQ(found[0].trees, std::nullopt);
  EXPECT_EQ(found[0].paths, (std::vector<NcclPath>{{"P2P/CUMEM", 1, 24, 25}}));
  EXPECT_EQ(TextsOf(found[0].remarks), Sentences{});
}

TEST(NcclTransportsTest, SharedMemory) {
  traceinject::Run run;
  run.ranks = {Process(0, 4)};
  run.ranks[0].nccl_links = {Link(0, 1, "SHM", "direct/direct"), Link(0, 3, "SHM", "direct/direct"),
                             Link(0, 2, "P2P", "IPC")};
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].paths,
            (std::vector<NcclPath>{{"P2P/IPC", 1, 24, 24}, {"SHM/direct/direct", 2, 24, 24}}));
  EXPECT_EQ(found[0].remarks.at(0).check, "nccl_host_memory");
  EXPECT_EQ(TextsOf(found[0].remarks),
            Sentences{"2 pairs of ranks exchange data through host memory (SHM), not GPU to GPU."});
}

TEST(NcclTransportsTest, SocketsBetweenRanksOfOneHost) {
  traceinject::Run run;
  run.ranks = {Process(0, 2), Process(1, 2)};
  run.ranks[0].nccl_links = {Link(0, 1, "NET", "", "Socket"),
                             Link(0, 1, "NET", "Shared", "Socket")};
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].paths, (std::vector<NcclPath>{{"NET/Socket", 1, 24, 24}}));
  EXPECT_EQ(TextsOf(found[0].remarks),
            Sentences{"1 pair of ranks exchanges data through TCP sockets, though both are on one "
                      "host."});
}

TEST(NcclTransportsTest, WhereAPeerIsMustBeKnown) {
  for (const bool other_host : {false, true}) {
    traceinject::Run run;
    run.ranks = {Process(0, 2)};  // the other rank's recording is not there
    if (other_host) run.ranks.push_back(Process(1, 2, "b"));
    run.ranks[0].nccl_links = {Link(0, 1, "NET", "", "Socket")};
    const auto found = SummarizeNcclTransports(run);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(TextsOf(found[0].remarks),
              Sentences{"1 pair of ranks exchanges data through TCP sockets."});
  }
}

TEST(NcclTransportsTest, SomeOfThemOnOneHost) {
  traceinject::Run run;
  run.ranks = {Process(0, 3, "a"), Process(1, 3, "a"), Process(2, 3, "b")};
  run.ranks[0].nccl_links = {Link(0, 1, "NET", "", "Socket"), Link(0, 2, "NET", "", "Socket")};
  EXPECT_EQ(
      TextsOf(SummarizeNcclTransports(run).at(0).remarks),
      Sentences{"2 pairs of ranks exchange data through TCP sockets, 1 of them on one host."});
}

TEST(NcclTransportsTest, InfiniBand) {
  traceinject::Run run;
  run.ranks = {Process(0, 16)};
  run.ranks[0].nccl_links = {Link(0, 8, "NET", "GDRDMA/Shared", "IB", true)};
  auto found = SummarizeNcclTransports(run);
  EXPECT_EQ(found.at(0).paths.at(0).name, "NET/IB/GDRDMA");
  EXPECT_EQ(TextsOf(found.at(0).remarks), Sentences{});
  run.ranks[0].nccl_links.push_back(Link(0, 9, "NET", "", "IB"));
  EXPECT_EQ(TextsOf(SummarizeNcclTransports(run).at(0).remarks),
            Sentences{"1 pair of ranks exchanges data through IB via host memory: GPUDirect RDMA "
                      "is not used."});
}

TEST(NcclTransportsTest, CollNetHasNoPeers) {
  traceinject::Run run;
  run.ranks = {Process(0, 16)};
  run.ranks[0].nccl_links = {Link(0, std::nullopt, "COLLNET", "", "SHARP")};
  const auto found = SummarizeNcclTransports(run);
  EXPECT_EQ(found.at(0).paths, (std::vector<NcclPath>{{"COLLNET/SHARP", 1, 24, 24}}));
  EXPECT_EQ(TextsOf(found.at(0).remarks), Sentences{});
}

TEST(NcclTransportsTest, CommunicatorsThatAreAlikeAreOneRow) {
  traceinject::Run run;
  for (const std::uint64_t hash : {1, 2, 3}) {
    run.ranks.push_back(Process(0, hash == 3 ? 8 : 4, "a", hash));
    run.ranks.back().nccl_links = {Link(0, 1, "P2P", "IPC")};
  }
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].size, 8);
  EXPECT_EQ(found[0].communicators, 1);
  EXPECT_EQ(found[1].size, 4);
  EXPECT_EQ(found[1].communicators, 2);
}

TEST(NcclTransportsTest, UnknownCommunicatorsAreNotPutTogether) {
  traceinject::Run run;
  run.ranks = {Process(0, 2), Process(1, 2)};
  for (Rank& rank : run.ranks) rank.nccl_setups[0].communicator = kNone;
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].communicators, 2);
  EXPECT_EQ(found[0].ranks_told, 1);
}

TEST(NcclTransportsTest, ConnectionsOfNoCommunicatorComeLast) {
  traceinject::Run run;
  run.ranks = {Process(0, 2)};
  run.ranks[0].nccl_links = {Link(0, 1, "P2P", "IPC")};
  run.ranks[0].nccl_links[0].setup = kNone;
  const auto found = SummarizeNcclTransports(run);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].size, 2);
  EXPECT_TRUE(found[0].paths.empty());
  EXPECT_EQ(found[1].size, std::nullopt);
  EXPECT_EQ(found[1].ranks_told, 1);
  EXPECT_EQ(found[1].paths.size(), 1u);
}

TEST(NcclTransportsTest, NothingToldIsNothingSaid) {
  traceinject::Run run;
  run.ranks.emplace_back();
  EXPECT_TRUE(SummarizeNcclTransports(run).empty());
}

}  // namespace
}  // namespace traceinject
