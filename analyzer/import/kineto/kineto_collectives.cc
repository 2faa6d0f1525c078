// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_collectives.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace traceinject {
namespace {

struct Function {
  std::string_view part, nccl;
};
// The first row whose part the name holds decides; PyTorch has many variants of each (_base,
// _coalesced, _into_tensor, v). Underscores are left out before.
constexpr Function kFunctions[] = {
    {"allreduce", "AllReduce"}, {"reducescatter", "ReduceScatter"},
    {"allgather", "AllGather"}, {"alltoall", "AlltoAll"},
    {"broadcast", "Broadcast"}, {"barrier", "AllReduce"},
    {"reduce", "Reduce"},       {"gather", "Gather"},
    {"scatter", "Scatter"},     {"send", "Send"},
    {"recv", "Recv"},
};

struct Type {
  std::string_view name;
  int bytes;
};
// c10::ScalarType.
constexpr Type kTypes[] = {
    {"Float", 4},  {"Double", 8},      {"Half", 2},         {"BFloat16", 2},
    {"Long", 8},   {"Int", 4},         {"Short", 2},        {"Char", 1},
    {"Byte", 1},   {"Bool", 1},        {"UInt16", 2},       {"UInt32", 4},
    {"UInt64", 8}, {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16},
};

std::optional<int> TypeBytes(std::string_view name) {
  if (name.starts_with("Float8")) return 1;
  for (const Type& type : kTypes) {
    if (type.name == name) return type.bytes;
  }
  return std::nullopt;
}

// Of name and members, the same on all ranks (FNV-1a).
std::uint64_t GroupHash(const KinetoCollective& collective) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view text :
       {collective.group_name, std::string_view("|"), collective.group_ranks}) {
    for (const char c : text) {
      if (c == ' ') continue;
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return hash;
}

// The place of `rank` in "[0, 2, 4]". Empty: it is not there, or the list is abridged before it.
std::optional<int> PlaceInGroup(std::string_view ranks, int rank) {
  int place = 0;
  const char* at = ranks.data();
  const char* end = at + ranks.size();
  while (at < end) {
    if (*at == '.') return std::nullopt;
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int number = 0;
    const auto [rest, code] = std::from_chars(at, end, number);
    if (code != std::errc()) return std::nullopt;
    if (number == rank) return place;
    ++place;
    at = rest;
  }
  return std::nullopt;
}

}  // namespace

std::string_view NcclFunctionOf(std::string_view collective_name) {
  std::string name;
  for (const char c : collective_name) {
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const Function& function : kFunctions) {
    if (name.find(function.part) != std::string::npos) return function.nccl;
  }
  return {};
}

std::optional<std::int64_t> CollectiveBytes(std::string_view function,
                                            const KinetoCollective& collective) {
  const auto type = TypeBytes(collective.dtype);
  const bool by_received =
      function == "ReduceScatter" || function == "Scatter" || function == "Recv";
  std::optional<std::int64_t> count =
      by_received ? collective.out_elements : collective.in_elements;
  if (function == "AlltoAll") {
    if (!count || collective.group_size.value_or(0) < 1) return std::nullopt;
    *count /= *collective.group_size;
  }
  if (!type || !count || *count < 0 ||
      *count > std::numeric_limits<std::int64_t>::max() / 1024 / 16)
    return std::nullopt;
  return *count * *type;
}

bool KinetoCollectives::Add(const KinetoEvent& kernel, int device, Rank& rank) {
  const KinetoCollective& collective = kernel.collective;
  if (collective.name.empty()) return true;
  const std::string function(NcclFunctionOf(collective.name));
  const auto bytes = CollectiveBytes(function, collective);
  if (function.empty() || !bytes || kernel.correlation.value_or(0) <= 0) return false;
  noted_.push_back({static_cast<std::uint64_t>(*kernel.correlation), FunctionId(function, rank),
                    CommunicatorId(collective, device, rank), *bytes});
  return true;
}

std::uint32_t KinetoCollectives::FunctionId(const std::string& function, Rank& rank) {
  const auto [entry, is_new] =
      functions_.try_emplace(function, static_cast<std::uint32_t>(rank.strings.size()));
  if (is_new) rank.strings.push_back(function);
  return entry->second;
}

std::uint32_t KinetoCollectives::CommunicatorId(const KinetoCollective& collective, int device,
                                                Rank& rank) {
  const std::uint64_t hash = GroupHash(collective);
  const auto [entry, is_new] = communicators_.try_emplace(
      {hash, device}, static_cast<std::uint32_t>(rank.communicators.size()));
  if (is_new) {
    Communicator communicator;
    communicator.hash = hash;
    communicator.device = device;
    const std::int64_t size = collective.group_size.value_or(0);
    if (size > 0 && size <= std::numeric_limits<int>::max())
      communicator.size = static_cast<int>(size);
    if (rank.rank) communicator.rank = PlaceInGroup(collective.group_ranks, *rank.rank);
    rank.communicators.push_back(communicator);
  }
  return entry->second;
}

void KinetoCollectives::PlaceOne(const Noted& noted, std::uint32_t api_row, Rank& rank) {
  if (api_row == kNone) return;
  Collectives& calls = rank.collectives;
  calls.start.push_back(rank.api.start[api_row]);
  // Not empty: the launch has to lie inside.
  calls.end.push_back(std::max(rank.api.end[api_row], rank.api.start[api_row] + 1));
  calls.thread.push_back(rank.api.thread[api_row]);
  calls.function.push_back(noted.function);
  calls.communicator.push_back(noted.communicator);
  calls.bytes.push_back(noted.bytes);
  calls.reduction.push_back(-1);
  calls.peer.push_back(-1);
  calls.root.push_back(-1);
}

}  // namespace traceinject
