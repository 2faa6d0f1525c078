// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/communicators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace traceinject {
namespace {

class NcclCommunicatorsTest : public testing::Test {
 protected:
  NcclInitEvent Init(std::uint64_t hash, int rank, const char* name = "") {
    NcclInitEvent event{};
    event.communicator = hash;
    event.nodes = 2;
    event.ranks = 8;
    event.rank = rank;
    event.name_bytes = static_cast<std::uint32_t>(std::strlen(name));
    std::memcpy(event.name, name, event.name_bytes);
    return event;
  }
  NcclCommunicator Made(std::uint64_t hash, int rank) {
    NcclCommunicator made;
    made.communicator = hash;
    made.size = 8;
    made.rank = rank;
    made.device = 3;
    return made;
  }
  // The row of an id as the database ends up with it.
  CommunicatorRow Row(std::uint32_t id) const {
    CommunicatorRow last{};
    for (const CommunicatorRow& row : batch_.communicators) {
      if (row.id == id) last = row;
    }
    return last;
  }
  std::uint32_t HighestId() const {
    std::uint32_t highest = 0;
    for (const CommunicatorRow& row : batch_.communicators) highest = std::max(highest, row.id);
    return highest;
  }

  Batch batch_;
  NcclCommunicators communicators_{&batch_};
};

TEST_F(NcclCommunicatorsTest, BothSourcesMakeOneRowWhicheverComesFirst) {
  communicators_.Describe(Init(7, 1, "dp"), 10);
  communicators_.Announce(Made(7, 1), 20);
  communicators_.Announce(Made(8, 1), 30);
  communicators_.Describe(Init(8, 1), 25);
  ASSERT_EQ(HighestId(), 2U);
  EXPECT_EQ(Row(1).name, "dp");
  EXPECT_EQ(Row(1).created, 20);
  EXPECT_EQ(Row(1).device, 3);
  EXPECT_EQ(Row(1).nodes, 2);
  EXPECT_EQ(Row(2).nodes, 2);
  EXPECT_EQ(Row(2).created, 30);
}

TEST_F(NcclCommunicatorsTest, TheInterfaceAloneIsEnough) {
  communicators_.Describe(Init(7, 1), 10);
  EXPECT_EQ(Row(1).size, 8);
  EXPECT_EQ(Row(1).rank, 1);
  EXPECT_EQ(Row(1).created, 10);
  EXPECT_EQ(communicators_.Id(7), 1U);
}

TEST_F(NcclCommunicatorsTest, OneOfAHashMadeAgainIsAnother) {
  communicators_.Describe(Init(7, 1), 10);
  communicators_.Announce(Made(7, 1), 11);
  communicators_.Describe(Init(7, 1), 20);
  EXPECT_EQ(communicators_.Id(7), 2U);
  communicators_.Announce(Made(7, 1), 21);
  EXPECT_EQ(HighestId(), 2U);
}

TEST_F(NcclCommunicatorsTest, RanksOfOneProcessAreToldApart) {
  communicators_.Describe(Init(7, 0), 10);
  communicators_.Describe(Init(7, 1), 10);
  communicators_.Announce(Made(7, 0), 11);
  communicators_.Announce(Made(7, 1), 11);
  EXPECT_EQ(HighestId(), 2U);
  EXPECT_EQ(Row(1).rank, 0);
  EXPECT_EQ(Row(2).rank, 1);
}

TEST_F(NcclCommunicatorsTest, AnUnknownHashIsOneThatWasThereBefore) {
  EXPECT_EQ(communicators_.Id(9), 1U);
  EXPECT_FALSE(Row(1).created_known);
  EXPECT_EQ(Row(1).size, -1);
  EXPECT_EQ(Row(1).nodes, -1);
}

}  // namespace
}  // namespace traceinject
