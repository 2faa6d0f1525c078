// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/nccl_payload.h"

#include <algorithm>
#include <cstring>

namespace traceinject {
namespace {

constexpr std::uint64_t kSchemaBase = 1 << 24;

enum class Third { kNone, kReduction, kRoot, kPeer, kRootAndReduction };

struct Operation {
  std::uint64_t schema;
  std::string_view function;
  Third third;  // the integers after `bytes`
};

constexpr Operation kOperations[] = {
    {4, "AllGather", Third::kNone},
    {5, "AllReduce", Third::kReduction},
    {6, "Broadcast", Third::kRoot},
    {7, "ReduceScatter", Third::kReduction},
    {8, "Reduce", Third::kRootAndReduction},
    {9, "Send", Third::kPeer},
    {10, "Recv", Third::kPeer},
    {16, "AlltoAll", Third::kNone},
    {17, "Gather", Third::kRoot},
    {18, "Scatter", Third::kRoot},
};

template <typename Value>
Value Read(const std::uint8_t* payload, std::size_t offset) {
  Value value;
  std::memcpy(&value, payload + offset, sizeof value);
  return value;
}

// Fields are laid out as a C struct: 8-byte values, then ints, padded to 8.
constexpr std::size_t SizeWithout(Third third) { return third == Third::kNone ? 8 : 16; }

}  // namespace

std::optional<NcclOperation> ParseNcclOperation(std::uint64_t schema, const std::uint8_t* payload,
                                                std::size_t bytes) {
  for (const Operation& row : kOperations) {
    if (schema != kSchemaBase + row.schema) continue;
    const std::size_t old_size = SizeWithout(row.third), new_size = old_size + 8;
    NcclOperation operation;
    operation.function = row.function;
    std::size_t at = 0;
    if (bytes == new_size) {
      operation.communicator = Read<std::uint64_t>(payload, 0);
      at = 8;
    } else if (bytes != old_size) {
      return std::nullopt;
    }
    operation.bytes = Read<std::int64_t>(payload, at);
    if (operation.bytes < 0) return std::nullopt;
    if (row.third == Third::kNone) return operation;
    const int first = Read<std::int32_t>(payload, at + 8);
    switch (row.third) {
      case Third::kReduction:
        operation.reduction = first;
        break;
      case Third::kRoot:
        operation.root = first;
        break;
      case Third::kPeer:
        operation.peer = first;
        break;
      case Third::kRootAndReduction:
        operation.root = first;
        operation.reduction = Read<std::int32_t>(payload, at + 12);
        break;
      case Third::kNone:
        break;
    }
    return operation;
  }
  return std::nullopt;
}

std::optional<NcclCommunicator> ParseNcclCommunicator(std::uint64_t schema,
                                                      const std::uint8_t* payload,
                                                      std::size_t bytes) {
  constexpr std::uint64_t kInitRank = 0, kInitRankConfig = 11, kInitRankScalable = 12, kSplit = 13;
  const std::uint64_t id = schema - kSchemaBase;
  NcclCommunicator made;
  std::size_t at = 8;
  if (id == kSplit) {
    if (bytes < 28) return std::nullopt;  // newcomm, parent, nranks, myrank, cudaDev, color, key
    made.parent = Read<std::uint64_t>(payload, 8);
    at = 16;
  } else if (id != kInitRank && id != kInitRankConfig && id != kInitRankScalable) {
    return std::nullopt;
  } else if (bytes < 20) {
    return std::nullopt;
  }
  made.communicator = Read<std::uint64_t>(payload, 0);
  const auto number = [&](std::size_t offset) {
    return std::max(-1, Read<std::int32_t>(payload, at + offset));
  };
  made.size = number(0);
  made.rank = number(4);
  made.device = number(8);
  return made;
}

}  // namespace traceinject
