// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/kineto_nccl.h"

#include <fmt/format.h>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

struct Function {
  std::string_view nccl, torch;
  // Of the message size S, what one rank gives and gets: all of it, or its part.
  bool part_in, part_out;
};
constexpr Function kFunctions[] = {
    {"AllReduce", "allreduce", false, false},
    {"AllGather", "_allgather_base", true, false},
    {"ReduceScatter", "_reduce_scatter_base", false, true},
    {"AlltoAll", "all_to_all", false, false},
    {"Broadcast", "broadcast", false, false},
    {"Reduce", "reduce", false, false},
    {"Gather", "gather", true, false},
    {"Scatter", "scatter", false, true},
    {"Send", "send", false, false},
    {"Recv", "recv", false, false},
};

struct Type {
  std::string_view nccl, torch;
  int bytes;
};
constexpr Type kTypes[] = {
    {"ncclInt8", "Char", 1},         {"ncclUint8", "Byte", 1},    {"ncclInt32", "Int", 4},
    {"ncclUint32", "UInt32", 4},     {"ncclInt64", "Long", 8},    {"ncclUint64", "UInt64", 8},
    {"ncclFloat16", "Half", 2},      {"ncclFloat32", "Float", 4}, {"ncclFloat64", "Double", 8},
    {"ncclBfloat16", "BFloat16", 2},
};
constexpr Type kUnknownType = {"", "Byte", 1};

const Function* FindFunction(std::string_view nccl) {
  for (const Function& function : kFunctions) {
    if (function.nccl == nccl) return &function;
  }
  return nullptr;
}

// As NCCL told of the first call of the launch.
Type TypeOf(const Rank& rank, const NcclLaunch& launch) {
  const std::uint32_t plan = rank.collectives.plan[launch.first_call];
  if (plan == kNone) return kUnknownType;
  const std::string_view told = rank.string(rank.plans.datatype[plan]);
  for (const Type& type : kTypes) {
    if (type.nccl == told) return type;
  }
  return kUnknownType;
}

}  // namespace

std::optional<std::int64_t> BytesGiven(std::string_view function, std::int64_t message_bytes,
                                       std::optional<int> ranks) {
  const Function* const known = FindFunction(function);
  if (known == nullptr || (known->part_in && ranks.value_or(0) < 1)) return std::nullopt;
  return known->part_in ? message_bytes / *ranks : message_bytes;
}

std::optional<KinetoNccl> KinetoNcclOf(const Rank& rank, const NcclLaunch& launch) {
  const Function* const function = FindFunction(launch.function);
  if (function == nullptr || launch.first_call == kNone || !launch.bytes) return std::nullopt;
  const int ranks = launch.communicator_size.value_or(0);
  if ((function->part_in || function->part_out) && ranks < 1) return std::nullopt;
  Type type = TypeOf(rank, launch);
  if (*launch.bytes % type.bytes != 0) type = kUnknownType;
  KinetoNccl nccl;
  nccl.collective = function->torch;
  nccl.dtype = type.torch;
  const std::int64_t elements = *launch.bytes / type.bytes;
  nccl.in_elements = function->part_in ? elements / ranks : elements;
  nccl.out_elements = function->part_out ? elements / ranks : elements;
  nccl.group_size = launch.communicator_size;
  if (launch.communicator != kNone) {
    const Communicator& communicator = rank.communicators[launch.communicator];
    nccl.group_name = communicator.name.empty() ? fmt::format("{:#x}", communicator.hash)
                                                : Printable(communicator.name);
  }
  return nccl;
}

}  // namespace traceinject
