// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/nccl_payload.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::uint64_t kBase = 1 << 24;

// As NCCL 2.25+ lays the fields out.
struct CommBytesInt {
  std::uint64_t comm;
  std::size_t bytes;
  int value;
};
struct BytesInt {
  std::size_t bytes;
  int value;
};
struct InitRank {
  std::uint64_t comm;
  int size, rank, device;
};
struct Split {
  std::uint64_t comm, parent;
  int size, rank, device, color, key;
};

template <typename Payload>
const std::uint8_t* Bytes(const Payload& payload) {
  return reinterpret_cast<const std::uint8_t*>(&payload);
}

TEST(NcclPayloadTest, AllReduceWithAndWithoutCommunicator) {
  const CommBytesInt now{0xABCD, 24690, 4};
  auto operation = ParseNcclOperation(kBase + 5, Bytes(now), sizeof now);
  ASSERT_TRUE(operation.has_value());
  EXPECT_EQ(operation->function, "AllReduce");
  EXPECT_EQ(operation->communicator, 0xABCDU);
  EXPECT_EQ(operation->bytes, 24690);
  EXPECT_EQ(operation->reduction, 4);
  EXPECT_EQ(operation->root, -1);

  const BytesInt before{4096, 0};
  operation = ParseNcclOperation(kBase + 5, Bytes(before), sizeof before);
  ASSERT_TRUE(operation.has_value());
  EXPECT_FALSE(operation->communicator.has_value());
  EXPECT_EQ(operation->bytes, 4096);
  EXPECT_EQ(operation->reduction, 0);
}

TEST(NcclPayloadTest, ASizeThatCannotBeIsNotKnown) {
  const CommBytesInt damaged{0xABCD, std::size_t{1} << 63, 4};
  EXPECT_FALSE(ParseNcclOperation(kBase + 5, Bytes(damaged), sizeof damaged).has_value());
}

TEST(NcclPayloadTest, SendsHavePeersAndBroadcastsRoots) {
  const CommBytesInt payload{1, 512, 3};
  EXPECT_EQ(ParseNcclOperation(kBase + 9, Bytes(payload), sizeof payload)->peer, 3);
  EXPECT_EQ(ParseNcclOperation(kBase + 6, Bytes(payload), sizeof payload)->root, 3);
}

TEST(NcclPayloadTest, OtherSchemasAndSizesAreNotGuessed) {
  const CommBytesInt payload{1, 512, 3};
  EXPECT_FALSE(ParseNcclOperation(5, Bytes(payload), sizeof payload).has_value());
  EXPECT_FALSE(ParseNcclOperation(kBase + 99, Bytes(payload), sizeof payload).has_value());
  EXPECT_FALSE(ParseNcclOperation(kBase + 5, Bytes(payload), 12).has_value());
  EXPECT_FALSE(ParseNcclOperation(kBase + 5, Bytes(payload), 0).has_value());
}

TEST(NcclPayloadTest, Communicators) {
  const InitRank init{0x77, 8, 3, 1};
  auto made = ParseNcclCommunicator(kBase + 11, Bytes(init), sizeof init);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->communicator, 0x77U);
  EXPECT_EQ(made->size, 8);
  EXPECT_EQ(made->rank, 3);
  EXPECT_EQ(made->device, 1);
  EXPECT_FALSE(made->parent.has_value());
  const Split split{0x78, 0x77, 4, 1, 1, 0, 0};
  made = ParseNcclCommunicator(kBase + 13, Bytes(split), sizeof split);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->parent, 0x77U);
  EXPECT_EQ(made->size, 4);
  EXPECT_FALSE(ParseNcclCommunicator(kBase + 5, Bytes(init), sizeof init).has_value());
  const InitRank damaged{0x77, -8, -3, -2147483647};
  made = ParseNcclCommunicator(kBase + 11, Bytes(damaged), sizeof damaged);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->size, -1) << "not told";
  EXPECT_EQ(made->rank, -1);
  EXPECT_EQ(made->device, -1);
}

}  // namespace
}  // namespace traceinject
