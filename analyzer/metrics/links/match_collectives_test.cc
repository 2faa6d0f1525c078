// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/match_collectives.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr const char* kReduction =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// A rank of a communicator of two; kernels as long as given.
RankBuilder Member(int own_rank, const std::vector<TimeNs>& lengths, std::int64_t bytes = 4096,
                   std::uint64_t hash = 1, TimeNs time = 0) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, own_rank, 0, hash);
  for (const TimeNs length : lengths) {
    builder.AddCall({time, time + 50, "AllReduce", bytes, communicator});
    const std::uint32_t launch = builder.AddApi(time + 10, time + 20, "cudaLaunchKernelExC");
    builder.AddKernel(time + 100, time + 100 + length, kReduction, launch);
    time += 10'000;
  }
  return builder;
}

TEST(MatchCollectivesTest, TransferIsTheShortestKernelOverTheRanks) {
  RankBuilder a = Member(0, {500, 90}), b = Member(1, {100, 80});
  NcclLinks links_a = LinkNccl(a.rank(), a.rank().devices[0]),
            links_b = LinkNccl(b.rank(), b.rank().devices[0]);
  EXPECT_TRUE(EstimateTransfers({{&a.rank(), &links_a}, {&b.rank(), &links_b}}).empty());
  EXPECT_EQ(links_a.launches[0].transfer_ns, 100);
  EXPECT_EQ(links_b.launches[0].transfer_ns, 100);
  EXPECT_EQ(links_a.launches[1].transfer_ns, 80);
}

TEST(MatchCollectivesTest, OneRankAloneGivesNoTransfer) {
  RankBuilder a = Member(0, {500});
  NcclLinks links = LinkNccl(a.rank(), a.rank().devices[0]);
  EXPECT_TRUE(EstimateTransfers({{&a.rank(), &links}}).empty());
  EXPECT_FALSE(links.launches[0].transfer_ns);
}

TEST(MatchCollectivesTest, DifferentSequencesAreNotMatched) {
  RankBuilder a = Member(0, {500, 90}), b = Member(1, {100}), c = Member(1, {100, 80}, 8192);
  NcclLinks links_a = LinkNccl(a.rank(), a.rank().devices[0]);
  for (RankBuilder* other : {&b, &c}) {
    NcclLinks links = LinkNccl(other->rank(), other->rank().devices[0]);
    EXPECT_EQ(EstimateTransfers({{&a.rank(), &links_a}, {&other->rank(), &links}}).size(), 1u);
    EXPECT_FALSE(links_a.launches[0].transfer_ns);
  }
}

// Flight recorders of two ranks do not begin with the same operation.
TEST(MatchCollectivesTest, KeptPartsAreMatchedWhereBothHaveThem) {
  for (const std::vector<TimeNs>& lengths_a :
       {std::vector<TimeNs>{500, 90, 300}, std::vector<TimeNs>{500, 90, 300, 70}}) {
    RankBuilder a = Member(0, lengths_a), b = Member(1, {100, 400, 80}, 4096, 1, 10'000);
    a.rank().kept_from = 0;
    b.rank().kept_from = 5'000;
    NcclLinks links_a = LinkNccl(a.rank(), a.rank().devices[0]),
              links_b = LinkNccl(b.rank(), b.rank().devices[0]);
    EXPECT_TRUE(EstimateTransfers({{&a.rank(), &links_a}, {&b.rank(), &links_b}}).empty());
    EXPECT_FALSE(links_a.launches[0].transfer_ns);
    EXPECT_EQ(links_a.launches[1].transfer_ns, 90);
    EXPECT_EQ(links_b.launches[0].transfer_ns, 90);
    EXPECT_EQ(links_b.launches[1].transfer_ns, 300);
  }
}

TEST(MatchCollectivesTest, KeptPartsThatDidNotRunTogetherAreNotMatched) {
  RankBuilder a = Member(0, {500, 90}), b = Member(1, {100, 80}, 4096, 1, 5'000);
  a.rank().kept_from = b.rank().kept_from = 0;
  NcclLinks links_a = LinkNccl(a.rank(), a.rank().devices[0]),
            links_b = LinkNccl(b.rank(), b.rank().devices[0]);
  EXPECT_EQ(EstimateTransfers({{&a.rank(), &links_a}, {&b.rank(), &links_b}}).size(), 1U);
  EXPECT_FALSE(links_a.launches[0].transfer_ns);
  EXPECT_FALSE(links_b.launches[0].transfer_ns);
}

TEST(MatchCollectivesTest, ParallelGroupsOfEqualSizeAreToldApartByTheirHash) {
  RankBuilder builders[] = {Member(0, {500}, 4096, 1), Member(1, {100}, 4096, 1),
                            Member(0, {50}, 4096, 2), Member(1, {60}, 4096, 2)};
  std::vector<NcclLinks> links;
  for (RankBuilder& one : builders) links.push_back(LinkNccl(one.rank(), one.rank().devices[0]));
  std::vector<NcclMember> members;
  for (std::size_t i = 0; i < links.size(); ++i)
    members.push_back({&builders[i].rank(), &links[i]});
  EXPECT_TRUE(EstimateTransfers(members).empty());
  EXPECT_EQ(links[0].launches[0].transfer_ns, 100);
  EXPECT_EQ(links[1].launches[0].transfer_ns, 100);
  EXPECT_EQ(links[2].launches[0].transfer_ns, 50);
  EXPECT_EQ(links[3].launches[0].transfer_ns, 50);
}

// "0:0 1:0, 0:1 1:2": per operation the launches, member:launch.
std::string Matched(std::vector<RankBuilder*> builders) {
  std::vector<NcclLinks> links;
  for (RankBuilder* one : builders) links.push_back(LinkNccl(one->rank(), one->rank().devices[0]));
  std::vector<NcclMember> members;
  for (std::size_t i = 0; i < links.size(); ++i) {
    members.push_back({&builders[i]->rank(), &links[i]});
  }
  std::string text;
  for (const SameOperation& operation : MatchOperations(members)) {
    text += text.empty() ? "" : ",";
    for (const MemberLaunch& one : operation) {
      text += " " + std::to_string(one.member) + ":" + std::to_string(one.launch);
    }
  }
  return text.empty() ? text : text.substr(1);
}

// A rank of a communicator of two that calls AllReduce with these sizes, every 10 us.
RankBuilder Caller(int own_rank, const std::vector<std::int64_t>& bytes, std::uint64_t hash = 1,
                   TimeNs time = 0, const char* function = "AllReduce") {
  RankBuilder builder;
  const std::uint32_t communicator =
      hash == 0 ? kNone : builder.AddCommunicator(2, own_rank, 0, hash);
  for (const std::int64_t size : bytes) {
    builder.AddCall({time, time + 50, function, size, communicator});
    builder.AddKernel(time + 100, time + 200, kReduction,
                      builder.AddApi(time + 10, time + 20, "cudaLaunchKernelExC"));
    time += 10'000;
  }
  return builder;
}

TEST(MatchCollectivesTest, OperationsOfOneCommunicatorMatchByOrder) {
  RankBuilder a = Caller(0, {1, 2, 2}), b = Caller(1, {1, 2, 2}), other = Caller(0, {1}, 2);
  EXPECT_EQ(Matched({&a, &b, &other}), "0:0 1:0, 0:1 1:1, 0:2 1:2");
  EXPECT_EQ(Matched({&b, &a}), "1:0 0:0, 1:1 0:1, 1:2 0:2") << "by rank in the communicator";
  EXPECT_EQ(Matched({&a}), "");
}

TEST(MatchCollectivesTest, WhatARankLacksIsLeftOut) {
  RankBuilder all = Caller(0, {1, 2, 3, 4, 5, 6}), hole = Caller(1, {1, 2, 5, 6});
  EXPECT_EQ(Matched({&all, &hole}), "0:0 1:0, 0:1 1:1, 0:4 1:2, 0:5 1:3");
  RankBuilder late = Caller(1, {4, 5, 6}, 1, 30'000);
  EXPECT_EQ(Matched({&all, &late}), "0:3 1:0, 0:4 1:1, 0:5 1:2");
  RankBuilder strange = Caller(1, {7, 8, 9});
  EXPECT_EQ(Matched({&all, &strange}), "");
}

TEST(MatchCollectivesTest, ARepeatedSequenceIsAlignedByTime) {
  RankBuilder all = Caller(0, {1, 2, 1, 2, 1, 2});
  RankBuilder late = Caller(1, {1, 2, 1, 2}, 1, 20'000), early = Caller(1, {1, 2, 1, 2});
  EXPECT_EQ(Matched({&all, &late}), "0:2 1:0, 0:3 1:1, 0:4 1:2, 0:5 1:3");
  EXPECT_EQ(Matched({&all, &early}), "0:0 1:0, 0:1 1:1, 0:2 1:2, 0:3 1:3");
}

TEST(MatchCollectivesTest, WithoutACommunicatorTheOrderCounts) {
  RankBuilder a = Caller(0, {1, 2}, 0), b = Caller(1, {1, 2}, 0);
  EXPECT_EQ(Matched({&a, &b}), "0:0 1:0, 0:1 1:1");
  RankBuilder send = Caller(0, {1}, 1, 0, "Send"), receive = Caller(1, {1}, 1, 0, "Recv");
  EXPECT_EQ(Matched({&send, &receive}), "") << "only two ranks take part, not all";
}

TEST(MatchCollectivesTest, CommunicatorsWithoutAHashAreNotMatched) {
  RankBuilder a = Member(0, {500}, 4096, 0), b = Member(1, {100}, 4096, 0);
  NcclLinks links_a = LinkNccl(a.rank(), a.rank().devices[0]),
            links_b = LinkNccl(b.rank(), b.rank().devices[0]);
  EXPECT_TRUE(EstimateTransfers({{&a.rank(), &links_a}, {&b.rank(), &links_b}}).empty());
  EXPECT_FALSE(links_a.launches[0].transfer_ns);
}

}  // namespace
}  // namespace traceinject
