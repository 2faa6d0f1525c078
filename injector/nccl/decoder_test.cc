// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "injector/base/counters.h"

namespace traceinject {
namespace {

constexpr std::uint64_t kComm = 0xAB;
constexpr int kSlot = 3, kTid = 700, kOtherSlot = 1, kOtherTid = 701;

void Put(NcclWord* to, const char* text) {
  std::memset(*to, 0, sizeof *to);
  std::strncpy(*to, text, sizeof *to - 1);
}

EventHeader Header(EventType type, std::int64_t time, std::uint32_t size, int version = 0) {
  return {size, static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(version), time};
}

NcclCallEvent CallOf(std::uint64_t id, const char* function, std::int64_t count, std::int64_t time,
                     std::uint64_t group = 100) {
  NcclCallEvent event{};
  event.header = Header(EventType::kNcclCall, time, sizeof event);
  event.id = id;
  event.group = group;
  event.communicator = kComm;
  event.count = count;
  Put(&event.function, function);
  Put(&event.datatype, "ncclFloat32");
  return event;
}

NcclOperationEvent OperationOf(int version, std::uint64_t call, const char* function,
                               std::int64_t count, std::int64_t time) {
  NcclOperationEvent event{};
  event.header = Header(EventType::kNcclOperation, time, sizeof event, version);
  event.call = call;
  event.communicator = kComm;
  event.sequence = 5;
  event.count = count;
  event.peer = event.reduction = -1;
  event.channels = 24;
  event.warps = 17;
  Put(&event.function, function);
  Put(&event.datatype, "ncclFloat32");
  Put(&event.algorithm, "RING");
  Put(&event.protocol, "SIMPLE");
  return event;
}

NcclOperation AllReduceOf(std::int64_t bytes, std::optional<std::uint64_t> communicator = kComm) {
  NcclOperation operation;
  operation.function = "AllReduce";
  operation.communicator = communicator;
  operation.bytes = bytes;
  operation.reduction = 0;
  return operation;
}

class NcclDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    repeated_before_ = g_counters.Get(Health::kNcclPluginRepeated);
    unlinked_before_ = g_counters.Get(Health::kNcclPluginUnlinked);
  }
  std::int64_t repeated() const {
    return g_counters.Get(Health::kNcclPluginRepeated) - repeated_before_;
  }
  std::int64_t unlinked() const {
    return g_counters.Get(Health::kNcclPluginUnlinked) - unlinked_before_;
  }

  template <typename Event>
  void Decode(const Event& event, int slot = kSlot, int tid = kTid) {
    decoder_.Decode(slot, tid, event.header);
  }
  void Launch(std::uint64_t id, std::int64_t start, std::int64_t end, std::uint64_t group = 100,
              int slot = kSlot, int tid = kTid) {
    NcclLaunchEvent begin{};
    begin.header = Header(EventType::kNcclLaunch, start, sizeof begin);
    begin.id = id;
    begin.group = group;
    begin.communicator = kComm;
    Decode(begin, slot, tid);
    End(EventType::kNcclLaunchEnd, id, end, slot, tid);
  }
  void End(EventType type, std::uint64_t id, std::int64_t time, int slot = kSlot, int tid = kTid) {
    NcclEndEvent event{};
    event.header = Header(type, time, sizeof event);
    event.id = id;
    Decode(event, slot, tid);
  }
  std::string Text(std::uint32_t id) const {
    for (const StringRow& row : batch_.strings) {
      if (row.id == id) return row.text;
    }
    return "";
  }

  // A call in its NVTX range, with its launch and its plan.
  std::uint64_t PlayOne(std::uint64_t id, std::int64_t start) {
    const std::uint64_t collective = decoder_.Begin(kSlot, 1, start, AllReduceOf(4000));
    Decode(CallOf(id, "AllReduce", 1000, start + 1, id + 1000));
    End(EventType::kNcclCallEnd, id, start + 2);
    Launch(id + 1, start + 3, start + 5, id + 1000);
    Decode(OperationOf(5, id, "AllReduce", 1000, start + 6));
    decoder_.End(kSlot, collective, start + 10);
    return collective;
  }

  Batch batch_;
  Dictionary dictionary_{&batch_};
  NcclDecoder decoder_{0, &dictionary_, &batch_};
  std::int64_t repeated_before_ = 0, unlinked_before_ = 0;
};

TEST_F(NcclDecoderTest, ACallLeadsToItsRangeAndItsLaunch) {
  const std::uint64_t collective = PlayOne(8, 100);
  ASSERT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.collectives[0].id, collective);
  EXPECT_EQ(batch_.collectives[0].dur, 10);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  const CollectivePlanRow& plan = batch_.collective_plans[0];
  EXPECT_EQ(plan.collective, collective);
  EXPECT_EQ(plan.time, 106);
  EXPECT_EQ(plan.sequence, 5);
  EXPECT_EQ(plan.count, 1000);
  EXPECT_EQ(Text(plan.datatype), "ncclFloat32");
  EXPECT_EQ(Text(plan.algorithm), "RING");
  EXPECT_EQ(Text(plan.protocol), "SIMPLE");
  EXPECT_EQ(plan.channels, 24);
  EXPECT_EQ(plan.warps, 17);
  EXPECT_TRUE(plan.has_launch);
  EXPECT_EQ(plan.launch_start, 103);
  EXPECT_EQ(plan.launch_dur, 2);
}

TEST_F(NcclDecoderTest, OperationsFusedInOneKernelHaveOneLaunch) {
  for (const std::uint64_t id : {8, 12}) {
    const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
    Decode(CallOf(id, "AllReduce", 1000, 101));
    End(EventType::kNcclCallEnd, id, 102);
    decoder_.End(kSlot, collective, 103);
  }
  Launch(16, 110, 112);
  Decode(OperationOf(5, 12, "AllReduce", 1000, 113));
  Decode(OperationOf(5, 8, "AllReduce", 1000, 114));
  ASSERT_EQ(batch_.collective_plans.size(), 2U);
  EXPECT_EQ(batch_.collective_plans[0].collective, 2U);
  EXPECT_EQ(batch_.collective_plans[1].collective, 1U);
  EXPECT_EQ(batch_.collective_plans[0].launch_start, 110);
  EXPECT_EQ(batch_.collective_plans[1].launch_start, 110);
  EXPECT_EQ(batch_.collectives.size(), 2U);
}

TEST_F(NcclDecoderTest, AnAlltoallHasThePlansOfItsParts) {
  NcclOperation all_to_all;
  all_to_all.function = "AlltoAll";
  all_to_all.communicator = kComm;
  const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, all_to_all);
  Decode(CallOf(8, "Send", 10, 101));
  Decode(CallOf(12, "Recv", 10, 102));
  Launch(16, 110, 112);
  Decode(OperationOf(5, 8, "Send", 10, 113));
  Decode(OperationOf(5, 12, "Recv", 10, 114));
  decoder_.End(kSlot, collective, 120);
  EXPECT_EQ(batch_.collectives.size(), 1U);
  ASSERT_EQ(batch_.collective_plans.size(), 2U);
  EXPECT_EQ(batch_.collective_plans[0].collective, collective);
  EXPECT_EQ(batch_.collective_plans[1].collective, collective);
}

TEST_F(NcclDecoderTest, WithoutNvtxTheCallItselfIsTheOperation) {
  NcclCallEvent call = CallOf(8, "Broadcast", 1000, 101);
  call.root = 3;
  Decode(call);
  End(EventType::kNcclCallEnd, 8, 105);
  Launch(12, 110, 112);
  NcclOperationEvent operation = OperationOf(5, 8, "Broadcast", 4000, 113);
  Put(&operation.datatype, "ncclInt8");  // as NCCL treats it
  Decode(operation);
  ASSERT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.collectives[0].start, 101);
  EXPECT_EQ(batch_.collectives[0].dur, 4);
  EXPECT_EQ(batch_.collectives[0].bytes, 4000);
  EXPECT_EQ(batch_.collectives[0].root, 3);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(batch_.collective_plans[0].collective, batch_.collectives[0].id);
  EXPECT_EQ(batch_.collective_plans[0].count, 1000);
  EXPECT_EQ(Text(batch_.collective_plans[0].datatype), "ncclFloat32");
  ASSERT_EQ(batch_.communicators.size(), 1U);
  EXPECT_EQ(batch_.communicators[0].hash, kComm);
}

TEST_F(NcclDecoderTest, ACallThatIsNeverCarriedOutIsStoredWithoutAPlan) {
  Decode(CallOf(8, "AllReduce", 1000, 101));
  End(EventType::kNcclCallEnd, 8, 105);
  decoder_.EndFlush(false);
  EXPECT_TRUE(batch_.collectives.empty());
  decoder_.EndFlush(false);
  EXPECT_EQ(batch_.collectives.size(), 1U);
  decoder_.EndFlush(true);
  EXPECT_EQ(batch_.collectives.size(), 1U);
  EXPECT_TRUE(batch_.collective_plans.empty());
}

TEST_F(NcclDecoderTest, APeerIsToldByTheOperation) {
  Decode(CallOf(8, "Send", 1000, 101));
  End(EventType::kNcclCallEnd, 8, 105);
  Launch(12, 110, 112);
  NcclOperationEvent operation = OperationOf(5, 8, "Send", 1000, 113);
  operation.peer = 6;
  operation.sequence = operation.warps = -1;
  Put(&operation.algorithm, "");
  Put(&operation.protocol, "");
  Decode(operation);
  ASSERT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.collectives[0].peer, 6);
  EXPECT_EQ(batch_.collectives[0].root, -1);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(batch_.collective_plans[0].algorithm, 0U);
}

TEST_F(NcclDecoderTest, AnOperationOfAnotherThreadWaitsForItsCallAndFindsTheLaunch) {
  // The queue of the other thread is emptied first.
  Decode(OperationOf(5, 8, "AllReduce", 1000, 150), kOtherSlot, kOtherTid);
  EXPECT_TRUE(batch_.collective_plans.empty());
  const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  Decode(CallOf(8, "AllReduce", 1000, 101));
  Launch(12, 110, 112);
  decoder_.End(kSlot, collective, 120);
  decoder_.EndFlush(false);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(batch_.collective_plans[0].collective, collective);
  EXPECT_EQ(batch_.collective_plans[0].launch_start, 110);
  EXPECT_EQ(batch_.collective_plans[0].thread, dictionary_.Thread(kTid));
}

TEST_F(NcclDecoderTest, OfSeveralLaunchesOfAGroupAnotherThreadKnowsNone) {
  const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  Decode(CallOf(8, "AllReduce", 1000, 101));
  decoder_.End(kSlot, collective, 102);
  Launch(12, 110, 112);
  Launch(16, 113, 115);
  Decode(OperationOf(5, 8, "AllReduce", 1000, 150), kOtherSlot, kOtherTid);
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_FALSE(batch_.collective_plans[0].has_launch);
}

TEST_F(NcclDecoderTest, ReplaysOfACapturedOperationAreCounted) {
  const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  NcclCallEvent call = CallOf(8, "AllReduce", 1000, 101);
  call.captured = 1;
  Decode(call);
  Launch(12, 110, 112);
  decoder_.End(kSlot, collective, 120);
  for (int replay = 0; replay < 3; ++replay) {
    Decode(OperationOf(5, 8, "AllReduce", 1000, 200 + replay), kOtherSlot, kOtherTid);
  }
  EXPECT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(repeated(), 2);
}

TEST_F(NcclDecoderTest, BeforeVersionFiveTheOpenRangeIsTheCall) {
  const std::uint64_t collective = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  Decode(OperationOf(4, 0, "AllReduce", 1000, 106));
  decoder_.End(kSlot, collective, 110);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(batch_.collective_plans[0].collective, collective);
  EXPECT_FALSE(batch_.collective_plans[0].has_launch);
  EXPECT_EQ(batch_.collectives.size(), 1U);
}

TEST_F(NcclDecoderTest, BeforeVersionFiveAGroupIsMatchedBySizeThenOrder) {
  for (const std::int64_t bytes : {4000, 8000, 4000}) {
    decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, AllReduceOf(bytes)), 102);
  }
  Decode(OperationOf(4, 0, "AllReduce", 2000, 110));  // the largest first
  Decode(OperationOf(4, 0, "AllReduce", 1000, 111));
  Decode(OperationOf(4, 0, "AllReduce", 1000, 112));
  ASSERT_EQ(batch_.collective_plans.size(), 3U);
  EXPECT_EQ(batch_.collective_plans[0].collective, 2U);
  EXPECT_EQ(batch_.collective_plans[1].collective, 1U);
  EXPECT_EQ(batch_.collective_plans[2].collective, 3U);
}

TEST_F(NcclDecoderTest, TheInterfaceKnowsTheCommunicatorThatOldNvtxDoesNot) {
  decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000, std::nullopt)), 102);
  decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000, std::nullopt)), 102);
  EXPECT_TRUE(batch_.collectives.empty());  // it may become known
  Decode(OperationOf(2, 0, "AllReduce", 1000, 110));
  decoder_.EndFlush(false);
  ASSERT_EQ(batch_.collectives.size(), 2U);
  EXPECT_NE(batch_.collectives[0].communicator, 0U);
  EXPECT_EQ(batch_.collectives[1].communicator, 0U);
}

// NCCL 2.27 and later to a plug-in of version 3 or older.
NcclOperationEvent WithoutCommunicator(NcclOperationEvent event) {
  event.communicator = 0;
  return event;
}

TEST_F(NcclDecoderTest, NvtxKnowsTheCommunicatorThatTheInterfaceDoesNot) {
  const std::uint64_t alone = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  Decode(WithoutCommunicator(OperationOf(3, 0, "AllReduce", 1000, 106)));
  decoder_.End(kSlot, alone, 110);
  // Two groups' operations, of two communicators, that are alike.
  for (const std::uint64_t communicator : {kComm, kComm + 1, kComm}) {
    decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 120, AllReduceOf(4000, communicator)), 122);
  }
  for (int i = 0; i < 3; ++i) {
    Decode(WithoutCommunicator(OperationOf(3, 0, "AllReduce", 1000, 130 + i)));
  }
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.collective_plans.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(batch_.collective_plans[i].collective, i + 1);
  ASSERT_EQ(batch_.collectives.size(), 4U);
  EXPECT_EQ(batch_.communicators.size(), 2U);
  EXPECT_EQ(batch_.collectives[0].communicator, batch_.collectives[1].communicator);
  EXPECT_NE(batch_.collectives[1].communicator, batch_.collectives[2].communicator);
  EXPECT_EQ(unlinked(), 0);
}

TEST_F(NcclDecoderTest, WithNoCommunicatorFromEitherTheRowHasNone) {
  decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000, std::nullopt)), 102);
  Decode(WithoutCommunicator(OperationOf(3, 0, "AllReduce", 1000, 110)));
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.collectives[0].communicator, 0U);
  EXPECT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_TRUE(batch_.communicators.empty());
}

TEST_F(NcclDecoderTest, WhatMovesBytesHasNoTypeToMultiplyBy) {
  NcclOperation gather;
  gather.function = "AllGather";
  gather.communicator = kComm;
  gather.bytes = 4000;
  decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, gather), 102);
  NcclOperationEvent operation = OperationOf(1, 0, "AllGather", 4000, 110);
  Put(&operation.datatype, "ncclFloat64");
  Decode(WithoutCommunicator(operation));
  decoder_.EndFlush(true);
  EXPECT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(unlinked(), 0);
}

TEST_F(NcclDecoderTest, BeforeVersionFiveAndWithoutNvtxTheOperationIsStored) {
  NcclOperationEvent operation = OperationOf(1, 0, "AllReduce", 1000, 110);
  operation.reduction = 4;
  Decode(operation);
  NcclOperationEvent gather = OperationOf(1, 0, "AllGather", 1000, 111);
  gather.reduction = 0;
  Put(&gather.datatype, "ncclInt8");
  Decode(gather);
  decoder_.EndFlush(false);
  ASSERT_EQ(batch_.collectives.size(), 2U);
  EXPECT_EQ(batch_.collectives[0].reduction, 4);
  EXPECT_EQ(batch_.collectives[0].dur, 0);
  EXPECT_EQ(batch_.collectives[1].reduction, -1);
  EXPECT_EQ(batch_.collectives[1].bytes, 1000);
  ASSERT_EQ(batch_.collective_plans.size(), 2U);
  EXPECT_EQ(batch_.collective_plans[1].datatype, 0U);
}

TEST_F(NcclDecoderTest, WhatFitsNoCallIsCountedNotInvented) {
  decoder_.End(kSlot, decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000)), 102);
  Decode(OperationOf(4, 0, "AllReduce", 999, 110));
  for (int flush = 0; flush < 3; ++flush) decoder_.EndFlush(false);
  EXPECT_EQ(batch_.collectives.size(), 1U);
  EXPECT_TRUE(batch_.collective_plans.empty());
  EXPECT_EQ(unlinked(), 1);
}

TEST_F(NcclDecoderTest, AThreadThatWasForgottenHasNoOpenRange) {
  const std::uint64_t lost = decoder_.Begin(kSlot, 1, 100, AllReduceOf(4000));
  decoder_.ForgetThread(kSlot);
  decoder_.End(kSlot, lost, 200);
  PlayOne(8, 300);
  ASSERT_EQ(batch_.collectives.size(), 1U);
  EXPECT_EQ(batch_.collectives[0].start, 300);
}

TEST_F(NcclDecoderTest, MemoryIsBounded) {
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    Decode(CallOf(8 + 8 * i, "AllReduce", 1, 101, i));  // never executed
    Launch(12 + 8 * i, 110, 112, i);
    if (i % 50'000 == 0) decoder_.EndFlush(false);
  }
  decoder_.EndFlush(true);
  EXPECT_EQ(batch_.collectives.size(), 200'000U);
}

TEST_F(NcclDecoderTest, RangesWithoutTheInterfaceAreAllStored) {
  for (int i = 0; i < 20'000; ++i) {
    decoder_.End(kSlot, decoder_.Begin(kSlot, 1, i, AllReduceOf(4000, std::nullopt)), i + 1);
  }
  decoder_.EndFlush(false);
  EXPECT_EQ(batch_.collectives.size(), 20'000U);
}

TEST_F(NcclDecoderTest, AnEmptyWordAndAnUnknownOneAreAccepted) {
  NcclOperationEvent operation = OperationOf(2, 0, "", 1, 110);
  Put(&operation.datatype, "Unknown");
  Decode(operation);
  decoder_.EndFlush(true);
  ASSERT_EQ(batch_.collective_plans.size(), 1U);
  EXPECT_EQ(Text(batch_.collective_plans[0].datatype), "ncclUint8");
}

// NCCL tells of a call before it refuses it.
TEST_F(NcclDecoderTest, CountsThatNoMemoryHas) {
  for (const std::int64_t count : {INT64_MAX, INT64_MAX / 2, INT64_MIN}) {
    const NcclCallEvent call = CallOf(1, "AllReduce", count, 10);
    decoder_.Decode(kSlot, kTid, call.header);
    const NcclOperationEvent operation = OperationOf(4, 0, "AllReduce", count, 20);
    decoder_.Decode(kSlot, kTid, operation.header);
    decoder_.EndFlush(true);
  }
  for (const CollectiveRow& row : batch_.collectives) EXPECT_EQ(row.bytes, INT64_MAX);
  EXPECT_FALSE(batch_.collectives.empty());
}

}  // namespace
}  // namespace traceinject
