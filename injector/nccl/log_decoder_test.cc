// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include "injector/base/counters.h"

namespace traceinject {
namespace {

class NcclLogDecoderTest : public testing::Test {
 protected:
  void Line(const std::string& text, int tid = 7) {
    decoder_.Decode("vm:1:" + std::to_string(tid) + " [0] NCCL INFO " + text);
  }
  void Init(const char* moment, int address, int rank, int size, int tid = 7, int nvml_device = 0,
            const std::string& more = " commId 0xabc") {
    Line("ncclCommInitRank comm 0x" + std::to_string(address) + " rank " + std::to_string(rank) +
             " nranks " + std::to_string(size) + " cudaDev 0 nvmlDev " +
             std::to_string(nvml_device) + " busId 60" + more + " - " + moment,
         tid);
  }
  void Make(int address, int rank, int size, int tid = 7, int nvml_device = 0,
            const std::string& more = " commId 0xabc") {
    Init("Init START", address, rank, size, tid, nvml_device, more);
    Init("Init COMPLETE", address, rank, size, tid, nvml_device, more);
  }
  void Announce(std::uint64_t hash, int size, int rank,
                std::optional<std::uint64_t> parent = std::nullopt) {
    NcclCommunicator made{};
    made.communicator = hash;
    made.size = size;
    made.rank = rank;
    made.parent = parent;
    communicators_.Announce(made, 10);
  }
  std::string Text(std::uint32_t id) const {
    for (const StringRow& row : batch_.strings) {
      if (row.id == id) return row.text;
    }
    return "";
  }
  // The last row of each.
  const NcclSetupRow& LastSetup() {
    decoder_.EndFlush();
    return batch_.nccl_setups.back();
  }
  const NcclLinkRow& LastLink() {
    decoder_.EndFlush();
    return batch_.nccl_links.back();
  }
  static std::int64_t Count(Health id) { return g_counters.Get(id); }

  Batch batch_;
  Dictionary dictionary_{&batch_};
  NcclCommunicators communicators_{&batch_};
  NcclLogDecoder decoder_{&dictionary_, &batch_, &communicators_};
};

TEST_F(NcclLogDecoderTest, Setup) {
  Line("Using network Socket");
  Init("Init START", 55, 1, 2);
  Line("comm 0x55 rank 1 nRanks 2 nNodes 1 localRanks 2 localRank 1 MNNVL 0");
  Line("Ring 00 : 0 -> 1 -> 0");
  Line("Ring 01 : 0 -> 1 -> 0");
  Line("Trees [0] -1/-1/-1->1->0 [1] 0/-1/-1->1->-1 [2] 0/-1/-1->1->-1");
  Line("NVLS comm 0x55 headRank 1 nHeads 2 buffSize 1");
  Line(
      "24 coll channels, 24 collnet channels, 4 nvls channels, 32 p2p channels, 30 p2p channels "
      "per peer");
  Init("Init COMPLETE", 55, 1, 2);
  const NcclSetupRow& row = LastSetup();
  EXPECT_EQ(row.id, 1u);
  EXPECT_EQ(row.communicator, 0u);
  EXPECT_EQ(row.rank, 1);
  EXPECT_EQ(row.size, 2);
  EXPECT_EQ(row.nodes, 1);
  EXPECT_EQ(Text(row.network), "Socket");
  EXPECT_EQ(row.rings, 2);
  EXPECT_EQ(row.trees, 3);
  EXPECT_EQ(row.channels, 24);
  EXPECT_EQ(row.nvls_channels, 4);
  EXPECT_EQ(row.p2p_channels, 32);
  EXPECT_EQ(row.p2p_channels_per_peer, 30);
  EXPECT_TRUE(row.nvls);
}

TEST_F(NcclLogDecoderTest, RowsComeWhenSomethingIsNew) {
  Make(55, 0, 2);
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
  decoder_.EndFlush();
  decoder_.EndFlush();
  EXPECT_EQ(batch_.nccl_setups.size(), 1u);
  EXPECT_EQ(batch_.nccl_links.size(), 1u);
  Line("Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM");
  EXPECT_EQ(LastLink().channels, 2);
  EXPECT_EQ(batch_.nccl_links.size(), 2u);
  EXPECT_EQ(batch_.nccl_links[0].id, batch_.nccl_links[1].id);
}

TEST_F(NcclLogDecoderTest, NetworkInFrontOfTheStartIsOfThatThread) {
  Line("Using network IB", 8);
  Line("Using network Socket", 9);
  Init("Init START", 55, 0, 2, 9);
  EXPECT_EQ(Text(LastSetup().network), "Socket");
  Init("Init START", 56, 0, 2, 9);
  EXPECT_EQ(LastSetup().network, 0u);
}

TEST_F(NcclLogDecoderTest, NetworkAfterTheStart) {
  Init("Init START", 55, 0, 2);
  Line("Using network IB");
  EXPECT_EQ(Text(LastSetup().network), "IB");
}

TEST_F(NcclLogDecoderTest, ChannelsOfOneWayAreCountedOnce) {
  Make(55, 0, 2);
  for (const char* channel : {"00/0", "01/0", "00/1", "02/1", "00/0"})
    Line(std::string("Channel ") + channel + " : 0[0] -> 1[1] via P2P/CUMEM/read");
  const NcclLinkRow& row = LastLink();
  EXPECT_EQ(row.id, 1u);
  EXPECT_EQ(row.setup, 1u);
  EXPECT_EQ(row.rank, 0);
  EXPECT_EQ(row.peer, 1);
  EXPECT_TRUE(row.sends);
  EXPECT_EQ(Text(row.transport), "P2P");
  EXPECT_EQ(Text(row.detail), "CUMEM/read");
  EXPECT_EQ(row.network, 0u);
  EXPECT_EQ(row.net_device, -1);
  EXPECT_EQ(row.gdrdma, -1);
  EXPECT_EQ(row.channels, 3);
}

TEST_F(NcclLogDecoderTest, WaysThatDifferAreRowsOfTheirOwn) {
  Make(55, 0, 2);
  Line("Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0");
  Line("Channel 01/0 : 0[0] -> 1[1] [send] via NET/Socket/1");
  Line("Channel 00/0 : 1[1] -> 0[0] [receive] via NET/Socket/0");
  Line("Channel 00/1 : 0[0] -> 1[1] [send] via NET/Socket/0/Shared");
  decoder_.EndFlush();
  ASSERT_EQ(batch_.nccl_links.size(), 4u);
  EXPECT_EQ(batch_.nccl_links[0].gdrdma, 0);
  EXPECT_EQ(batch_.nccl_links[1].net_device, 1);
  EXPECT_FALSE(batch_.nccl_links[2].sends);
  EXPECT_EQ(batch_.nccl_links[2].peer, 1);
  EXPECT_EQ(Text(batch_.nccl_links[3].detail), "Shared");
}

TEST_F(NcclLogDecoderTest, WhileACommunicatorIsMadeItsThreadTellsOfIt) {
  Make(54, 0, 2);  // of the same rank and size
  Init("Init START", 55, 0, 2, 8);
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", 8);
  EXPECT_EQ(LastLink().setup, 2u);
  // Another thread cannot mean the one that is not ready.
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 9);
  EXPECT_EQ(LastLink().setup, 1u);
}

TEST_F(NcclLogDecoderTest, ConnectionThatFitsOnlyOneCommunicator) {
  Make(55, 0, 2);
  Make(56, 2, 4);
  Make(57, 0, 2, 7, 5);  // on another GPU
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 1u);
  Line("Channel 00/0 : 2[0] -> 3[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 2u);
}

TEST_F(NcclLogDecoderTest, ConnectionThatFitsSeveralNamesNone) {
  const std::int64_t before = Count(Health::kNcclLogUnassigned);
  Make(55, 0, 2);
  Make(56, 0, 4);
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 99);
  Line("Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 0u);
  EXPECT_EQ(Count(Health::kNcclLogUnassigned), before + 1);
  // The smaller one has no rank 3.
  Line("Channel 00/0 : 0[0] -> 3[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 2u);
}

TEST_F(NcclLogDecoderTest, CommunicatorThatIsGoneIsNotMeant) {
  Make(55, 0, 2);
  Line("comm 0x55 rank 0 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE");
  Make(56, 0, 2);
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 2u);
}

TEST_F(NcclLogDecoderTest, AddressThatCameBackIsTheNewCommunicator) {
  Make(55, 0, 2);
  Make(55, 0, 2);  // nothing was said of the end of the first
  Line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 99);
  EXPECT_EQ(LastLink().setup, 2u);
}

TEST_F(NcclLogDecoderTest, CommunicatorByItsHashOnceItIsKnown) {
  Make(55, 0, 2);
  EXPECT_EQ(LastSetup().communicator, 0u);
  Announce(0xabc, 2, 1);  // another rank of it in this process
  EXPECT_EQ(LastSetup().communicator, 0u);
  Announce(0xabc, 2, 0);
  EXPECT_EQ(LastSetup().communicator, batch_.communicators.back().id);
  EXPECT_EQ(batch_.nccl_setups.size(), 2u);
}

TEST_F(NcclLogDecoderTest, SplitCommunicatorByItsParent) {
  Announce(0xabc, 4, 2);
  Announce(0xdef, 2, 1, 0xabc);
  Make(55, 2, 4);
  Make(56, 1, 2, 7, 0, " parent 0x55 splitCount 1 color 0 key 2");
  EXPECT_EQ(LastSetup().communicator, 2u);
}

TEST_F(NcclLogDecoderTest, SplitsThatAreAlikeNameNone) {
  Announce(0xabc, 4, 2);
  Announce(0xdef, 2, 1, 0xabc);
  Announce(0xdf0, 2, 1, 0xabc);
  Make(55, 2, 4);
  Make(56, 1, 2, 7, 0, " parent 0x55 splitCount 1 color 0 key 2");
  EXPECT_EQ(LastSetup().communicator, 0u);
}

TEST_F(NcclLogDecoderTest, Adapters) {
  Line("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.2<0>");
  Line("NET/IB : GPU Direct RDMA Enabled for HCA 1 'mlx5_1'");
  Line("NET/Libfabric : GPU Direct RDMA Disabled for HCA 0 'rdmap0s6'");
  Line("NET/IB : GPU Direct RDMA Enabled for HCA 1 'mlx5_1'");
  std::vector<std::string> facts;
  for (const SystemFactRow& fact : batch_.facts)
    facts.push_back(fact.kind + " " + fact.key + " " + fact.value);
  EXPECT_EQ(facts, (std::vector<std::string>{
                       "nccl_net IB.0 mlx5_0:1/IB", "nccl_net IB.1 mlx5_1:1/RoCE",
                       "nccl_net IB.1.gpu_direct_rdma enabled", "nccl_net Libfabric.0 rdmap0s6",
                       "nccl_net Libfabric.0.gpu_direct_rdma disabled"}));
}

TEST_F(NcclLogDecoderTest, LinesAreCounted) {
  const std::int64_t lines = Count(Health::kNcclLogLines), ignored = Count(Health::kNcclLogIgnored);
  Line("Using network Socket");
  Line("P2P Chunksize set to 524288");
  Line("Ring 00 : 1 -> 0 -> 1");                       // of no communicator
  Line("comm 0x99 rank 0 nRanks 2 nNodes 1 local");    // likewise
  Line("Channel 999/0 : 0[0] -> 1[1] via P2P/CUMEM");  // NCCL has not so many
  decoder_.Decode("no line of NCCL's");
  EXPECT_EQ(Count(Health::kNcclLogLines), lines + 1);
  EXPECT_EQ(Count(Health::kNcclLogIgnored), ignored + 5);
}

TEST_F(NcclLogDecoderTest, NoMoreThanMayBeKept) {
  const std::int64_t before = Count(Health::kNcclLogDropped);
  for (int i = 0; i < 5000; ++i) Make(100 + i, 0, 2);
  decoder_.EndFlush();
  EXPECT_EQ(batch_.nccl_setups.size(), 4096u);
  EXPECT_EQ(Count(Health::kNcclLogDropped), before + 5000 - 4096);
}

}  // namespace
}  // namespace traceinject
