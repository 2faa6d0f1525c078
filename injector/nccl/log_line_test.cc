// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_line.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

template <typename Fact>
Fact Parse(std::string_view text) {
  const NcclLogFact fact = ParseNcclLogText(text);
  const Fact* found = std::get_if<Fact>(&fact);
  EXPECT_NE(found, nullptr) << text;
  return found == nullptr ? Fact{} : *found;
}

bool Ignored(std::string_view text) {
  return std::holds_alternative<std::monostate>(ParseNcclLogText(text));
}

TEST(NcclLogLineTest, PrefixOfALine) {
  const auto line = ParseNcclLogLine("vm:2453:2468 [0] NCCL INFO Using network Socket ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->tid, 2468);
  EXPECT_EQ(line->text, "Using network Socket");
}

TEST(NcclLogLineTest, PrefixWithATimeAndColonsInTheHost) {
  const auto line = ParseNcclLogLine("[2026-11-21 22:30:01] a:b [x]:1:77 [3] NCCL INFO hello");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->tid, 77);
  EXPECT_EQ(line->text, "hello");
}

TEST(NcclLogLineTest, OtherLines) {
  for (const char* line : {"", "NCCL INFO ", "vm:1:2 NCCL INFO text", "vm:1:x [0] NCCL INFO text",
                           " [0] NCCL INFO text", "vm:1:99999999999999 [0] NCCL INFO text",
                           "NCCL version 2.28.9+cuda13.0",
                           "vm:1:2 [0] transport.cc:97 NCCL WARN no transport found"}) {
    EXPECT_FALSE(ParseNcclLogLine(line)) << line;
  }
}

TEST(NcclLogLineTest, CommunicatorBeginsAndIsReady) {
  const auto start = Parse<NcclLogInit>(
      "ncclCommInitRankConfig comm 0x19f134d0 rank 0 nranks 2 cudaDev 1 nvmlDev 3 busId 60 commId "
      "0x715b322982248989 - Init START");
  EXPECT_EQ(start.moment, NcclLogInit::Moment::kStart);
  EXPECT_EQ(start.address, 0x19f134d0u);
  EXPECT_EQ(start.hash, 0x715b322982248989u);
  EXPECT_EQ(start.parent, 0u);
  EXPECT_EQ(start.rank, 0);
  EXPECT_EQ(start.size, 2);
  EXPECT_EQ(start.device, 1);
  EXPECT_EQ(start.nvml_device, 3);
  EXPECT_EQ(Parse<NcclLogInit>("ncclCommInitRank comm 0x55 rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
                               "busId 1e0 commId 0xb5ad - Init COMPLETE")
                .moment,
            NcclLogInit::Moment::kReady);
}

TEST(NcclLogLineTest, CommunicatorInTheWordsOfEachVersion) {
  // 2.17
  auto init = Parse<NcclLogInit>(
      "comm 0x7f10 rank 3 nranks 8 cudaDev 3 busId 1d0 commId 0xabc - Init COMPLETE");
  EXPECT_EQ(init.nvml_device, -1);
  EXPECT_EQ(init.hash, 0xabcu);
  // 2.18 and 2.19
  init = Parse<NcclLogInit>(
      "comm 0x7f10 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 1d0 commId "
      "0xabc - Init START");
  EXPECT_EQ(init.nvml_device, 3);
  // 2.20 and 2.21
  init = Parse<NcclLogInit>(
      "ncclCommSplit comm 0x7f20 rank 1 nranks 4 cudaDev 3 nvmlDev 3 busId 1d0 "
      "parent 0x7f10 color 0 key 3 commId 0xdef - Init COMPLETE");
  EXPECT_EQ(init.parent, 0x7f10u);
  EXPECT_EQ(init.hash, 0xdefu);
  // 2.22 to 2.28
  init = Parse<NcclLogInit>(
      "ncclCommSplit comm 0x7f20 rank 1 nranks 4 cudaDev 3 nvmlDev 3 busId 1d0 "
      "parent 0x7f10 splitCount 2 color 0 key 3- Init START");
  EXPECT_EQ(init.moment, NcclLogInit::Moment::kStart);
  EXPECT_EQ(init.parent, 0x7f10u);
  EXPECT_EQ(init.hash, 0u);
  // 2.29 and 2.30
  init = Parse<NcclLogInit>(
      "ncclCommShrink comm 0x7f20 rank 1 nranks 4 cudaDev 3 nvmlDev 3 busId "
      "1d0 parent 0x7f10 childCount 2 color 0 key 3 - Init COMPLETE");
  EXPECT_EQ(init.moment, NcclLogInit::Moment::kReady);
  EXPECT_EQ(Parse<NcclLogInit>("[Rank 0] ncclCommInitRank comm 0x55eb rank 0 nranks 2 cudaDev 0 "
                               "nvmlDev 0 busId 80 commId 0x2ef1 - Init START")
                .address,
            0x55ebu);
}

TEST(NcclLogLineTest, CommunicatorIsGone) {
  EXPECT_EQ(
      Parse<NcclLogInit>("comm 0x19f134d0 rank 0 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE")
          .moment,
      NcclLogInit::Moment::kGone);
  EXPECT_EQ(
      Parse<NcclLogInit>("comm 0x19f134d0 rank 0 nranks 2 cudaDev 0 busId 60 - Abort COMPLETE")
          .moment,
      NcclLogInit::Moment::kGone);
}

TEST(NcclLogLineTest, RankThatCannotBeIsIgnored) {
  EXPECT_TRUE(Ignored("comm 0x55 rank 2 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE"));
  EXPECT_TRUE(Ignored("comm 0x55 rank -1 nranks 2 cudaDev 0 busId 60 - Destroy COMPLETE"));
}

TEST(NcclLogLineTest, Nodes) {
  const auto nodes = Parse<NcclLogNodes>(
      "comm 0x3117b960 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0");
  EXPECT_EQ(nodes.address, 0x3117b960u);
  EXPECT_EQ(nodes.nodes, 2);
}

TEST(NcclLogLineTest, Nvls) {
  EXPECT_EQ(Parse<NcclLogNvls>("NVLS comm 0x5598478a4d90 headRank 2 nHeads 8 buffSize 4194304 "
                               "memSize 2097152 nvlsPerRankSize 201326592 nvlsTotalSize 1610612736")
                .address,
            0x5598478a4d90u);
  // That the GPU could is not that it is used.
  EXPECT_TRUE(Ignored("NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)"));
}

TEST(NcclLogLineTest, Network) {
  EXPECT_EQ(Parse<NcclLogNetwork>("Using network Socket").name, "Socket");
  EXPECT_EQ(Parse<NcclLogNetwork>("Using network AWS Libfabric").name, "AWS Libfabric");
}

TEST(NcclLogLineTest, AdaptersOfSockets) {
  const auto found =
      Parse<NcclLogAdapters>("NET/Socket : Using [0]eno1:192.0.2.9<0> [1]eth1:fe80::1%eth1<0>");
  EXPECT_EQ(found.network, "Socket");
  ASSERT_EQ(found.adapters.size(), 2u);
  EXPECT_EQ(found.adapters[0].name, "eno1");
  EXPECT_EQ(found.adapters[1].number, 1);
  EXPECT_EQ(found.adapters[1].name, "eth1");
}

TEST(NcclLogLineTest, AdaptersOfInfiniBand) {
  const auto found = Parse<NcclLogAdapters>(
      "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.2<0>");
  EXPECT_EQ(found.network, "IB");
  ASSERT_EQ(found.adapters.size(), 2u);
  EXPECT_EQ(found.adapters[0].name, "mlx5_0:1/IB");
  EXPECT_EQ(found.adapters[1].name, "mlx5_1:1/RoCE");
  EXPECT_TRUE(Ignored("NET/IB : Using [RO]; OOB eth0:192.0.2.2<0>"));
  EXPECT_TRUE(Ignored("NET/IB : No device found."));
}

TEST(NcclLogLineTest, GpuDirect) {
  auto found = Parse<NcclLogGpuDirect>("NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'");
  EXPECT_EQ(found.network, "Socket");
  EXPECT_EQ(found.name, "eth0");
  EXPECT_FALSE(found.enabled);
  found = Parse<NcclLogGpuDirect>("NET/IB : GPU Direct RDMA Enabled for HCA 3 'mlx5_5'");
  EXPECT_EQ(found.number, 3);
  EXPECT_TRUE(found.enabled);
  EXPECT_EQ(Parse<NcclLogGpuDirect>(
                "NET/AWS Libfabric : GPU Direct RDMA Enabled for HCA 0 'rdmap0s6-rdm'")
                .network,
            "AWS Libfabric");
}

TEST(NcclLogLineTest, Channels) {
  auto found = Parse<NcclLogChannels>(
      "24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 30 p2p channels "
      "per peer");
  EXPECT_EQ(found.collective, 24);
  EXPECT_EQ(found.nvls, 0);
  EXPECT_EQ(found.p2p, 32);
  EXPECT_EQ(found.p2p_per_peer, 30);
  // Without the number for CollNet, and without that for NVLS.
  found = Parse<NcclLogChannels>(
      "16 coll channels, 16 nvls channels, 16 p2p channels, 15 p2p channels per peer");
  EXPECT_EQ(found.nvls, 16);
  EXPECT_EQ(found.p2p_per_peer, 15);
  found = Parse<NcclLogChannels>("2 coll channels, 4 p2p channels, 1 p2p channels per peer");
  EXPECT_EQ(found.collective, 2);
  EXPECT_EQ(found.nvls, -1);
  EXPECT_EQ(found.p2p, 4);
}

TEST(NcclLogLineTest, RingsAndTrees) {
  EXPECT_EQ(Parse<NcclLogRing>("Ring 23 : 1 -> 0 -> 1").number, 23);
  EXPECT_EQ(Parse<NcclLogTrees>("Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1").count, 2);
  EXPECT_TRUE(Ignored("Tree 0 : -1 -> 0 -> 1/-1/-1"));
  EXPECT_TRUE(Ignored("Channel 00/24 : 0 1"));
  EXPECT_TRUE(Ignored("Channel 00/16 :    0   7   6   5"));
}

TEST(NcclLogLineTest, PeerToPeer) {
  auto found = Parse<NcclLogConnection>("Channel 27/1 : 0[0] -> 1[6] via P2P/CUMEM");
  EXPECT_EQ(found.channel, 27);
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.peer, 1);
  EXPECT_EQ(found.nvml_device, 0);
  EXPECT_TRUE(found.sends);
  EXPECT_EQ(found.transport, "P2P");
  EXPECT_EQ(found.detail, "CUMEM");
  EXPECT_EQ(found.network, "");
  EXPECT_EQ(found.net_device, -1);
  for (const std::string_view detail :
       {"CUMEM/read", "CUMEM/CE", "IPC", "IPC/read", "direct pointer", "direct pointer/read",
        "MNNVL", "indirect/3[3]/read"}) {
    const std::string line = "Channel 00/0 : 8[0] -> 15[7] via P2P/" + std::string(detail);
    found = Parse<NcclLogConnection>(line);
    EXPECT_EQ(found.detail, detail);
  }
}

TEST(NcclLogLineTest, AddressOnTheBusInsteadOfANumber) {
  const auto found = Parse<NcclLogConnection>("Channel 00 : 1[1c000] -> 0[1d000] via P2P/IPC/read");
  EXPECT_EQ(found.nvml_device, -1);
  EXPECT_EQ(found.rank, 1);
}

TEST(NcclLogLineTest, SharedMemory) {
  for (const std::string_view detail : {"direct/direct", "CE/direct", "direct"}) {
    const std::string line = "Channel 03 : 0[0] -> 1[1] via SHM/" + std::string(detail);
    const auto found = Parse<NcclLogConnection>(line);
    EXPECT_EQ(found.transport, "SHM");
    EXPECT_EQ(found.detail, detail);
    EXPECT_EQ(found.channel, 3);
  }
}

TEST(NcclLogLineTest, Sockets) {
  auto found =
      Parse<NcclLogConnection>("Channel 01/1 : 1[1] -> 0[0] [receive] via NET/Socket/0/Shared");
  EXPECT_FALSE(found.sends);
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.peer, 1);
  EXPECT_EQ(found.nvml_device, 0);
  EXPECT_EQ(found.transport, "NET");
  EXPECT_EQ(found.network, "Socket");
  EXPECT_EQ(found.net_device, 0);
  EXPECT_EQ(found.detail, "Shared");
  EXPECT_FALSE(found.gdrdma);
  found = Parse<NcclLogConnection>("Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0");
  EXPECT_TRUE(found.sends);
  EXPECT_EQ(found.detail, "");
}

TEST(NcclLogLineTest, InfiniBandAndPlugIns) {
  auto found = Parse<NcclLogConnection>(
      "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/3(5)/GDRDMA(PCI)/Shared");
  EXPECT_EQ(found.network, "IB");
  EXPECT_EQ(found.net_device, 3);
  EXPECT_EQ(found.proxy_rank, 5);
  EXPECT_TRUE(found.gdrdma);
  EXPECT_EQ(found.detail, "GDRDMA(PCI)/Shared");
  found = Parse<NcclLogConnection>("Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/3");
  EXPECT_FALSE(found.gdrdma);
  EXPECT_EQ(found.proxy_rank, -1);
  found = Parse<NcclLogConnection>(
      "Channel 01/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/2/GDRDMA");
  EXPECT_EQ(found.network, "AWS Libfabric");
}

TEST(NcclLogLineTest, CollNet) {
  auto found = Parse<NcclLogConnection>("CollNet 00/0 : 4 [send] via COLLNET/IBext_v8/0/GDRDMA");
  EXPECT_EQ(found.transport, "COLLNET");
  EXPECT_EQ(found.network, "IBext_v8");
  EXPECT_EQ(found.rank, 4);
  EXPECT_EQ(found.peer, -1);
  EXPECT_TRUE(found.gdrdma);
  EXPECT_FALSE(Parse<NcclLogConnection>("CollNet 01 : 4 [receive] via COLLNET/SHARP/1").sends);
}

TEST(NcclLogLineTest, WhatIsBrokenOrHostileIsIgnored) {
  for (const std::string_view text : {"Channel",
                                      "Channel 00/0 : ",
                                      "Channel 00/0 : 0[0] -> 1[1]",
                                      "Channel 00/0 : 0[0] -> 1[1] via",
                                      "Channel 00/0 : 0[0] -> 1[1] via P2P",
                                      "Channel 00/0 : 0[0 -> 1[1] via P2P/IPC",
                                      "Channel -1/0 : 0[0] -> 1[1] via P2P/IPC",
                                      "Channel 00/0 : 0[0] -> 1[1] via XYZ/IPC",
                                      "Channel 99999999999/0 : 0[0] -> 1[1] via P2P/IPC",
                                      "Channel 00/0 : 0[0] -> -1[1] via P2P/IPC",
                                      "Channel 00/0 : 0[0] -> 1[1] [send] via NET/",
                                      "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB",
                                      "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/x",
                                      "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0(",
                                      "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0x",
                                      "CollNet 00/0 : 4 via COLLNET/IB/0",
                                      "Trees",
                                      "Ring",
                                      "coll channels, ",
                                      "NET/",
                                      "NET/IB : Using ",
                                      "NET/IB : Using [",
                                      "NET/IB : Using [0",
                                      "NET/IB : Using [0]",
                                      "NET/IB : GPU Direct RDMA Maybe for HCA 0 'x'",
                                      "Using network ",
                                      "comm 0xzz - Init START",
                                      "comm  - Init COMPLETE",
                                      "comm 0x55 rank 0 nRanks 2 nNodes 0 localRanks 2",
                                      "NVLS comm nil"}) {
    EXPECT_TRUE(Ignored(text)) << text;
  }
}

// Every beginning of a line, and a line with any byte replaced, is taken in without harm.
TEST(NcclLogLineTest, AnyBytes) {
  const std::string lines[] = {
      "vm:1:2 [0] NCCL INFO ncclCommSplit comm 0x7f20 rank 1 nranks 4 cudaDev 3 nvmlDev 3 busId "
      "1d0 "
      "parent 0x7f10 splitCount 2 color 0 key 3- Init START",
      "vm:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/3(5)/GDRDMA(PCI)/Shared",
      "vm:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB "
      "eth0:192.0.2.2<0>",
      "vm:1:2 [0] NCCL INFO 24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p "
      "channels"};
  const auto take = [](std::string_view line) {
    if (const auto parsed = ParseNcclLogLine(line)) ParseNcclLogText(parsed->text);
  };
  for (const std::string& line : lines) {
    for (std::size_t length = 0; length <= line.size(); ++length)
      take(std::string(line.substr(0, length)));
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (const char byte : {'\0', '\xff', ' ', '/', '[', '9', '-'}) {
        std::string changed = line;
        changed[at] = byte;
        take(changed);
      }
    }
  }
}

}  // namespace
}  // namespace traceinject
