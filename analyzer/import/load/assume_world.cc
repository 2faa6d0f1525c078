// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/assume_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// Where a trace begins and ends, a process may lack a few.
constexpr std::size_t kOneOf = 50;

using KernelCounts = std::map<std::string_view, std::size_t>;  // by name

struct Member {
  Rank* rank = nullptr;
  int device = 0;
  KernelCounts kernels;
};

KernelCounts NcclKernels(const Rank& rank, const GpuOps& ops) {
  std::vector<std::size_t> of_shape(rank.shapes.size());
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] == OpKind::kKernel && ops.kernel_class[row] == KernelClass::kComm)
      ++of_shape[ops.detail[row]];
  }
  KernelCounts counts;
  for (std::size_t shape = 0; shape < of_shape.size(); ++shape) {
    const std::string_view name = rank.string(rank.shapes[shape].name);
    if (of_shape[shape] > 0 && IsNcclKernelName(name)) counts[name] += of_shape[shape];
  }
  return counts;
}

bool AreAlike(const KernelCounts& a, const KernelCounts& b) {
  std::size_t all = 0, apart = 0;
  const auto compare = [&](const KernelCounts& one, const KernelCounts& other) {
    for (const auto& [name, count] : one) {
      const auto found = other.find(name);
      const std::size_t there = found == other.end() ? 0 : found->second;
      all += count;
      apart += count - std::min(count, there);
    }
  };
  compare(a, b);
  compare(b, a);
  return apart * kOneOf <= all;
}

// Empty: what is recorded tells otherwise, or nothing is to be assumed.
std::vector<Member> MembersOf(std::vector<Rank>& ranks) {
  std::vector<Member> members;
  for (Rank& rank : ranks) {
    if (rank.imported_from.empty() || rank.rank || !rank.communicators.empty() ||
        rank.collectives.size() > 0)
      return {};
    std::size_t devices = 0;
    for (const Device& device : rank.devices) {
      KernelCounts kernels = NcclKernels(rank, device.ops);
      if (kernels.empty()) continue;
      if (devices++ > 0) return {};
      members.push_back({&rank, device.ordinal, std::move(kernels)});
    }
  }
  if (members.size() < 2) return {};
  for (const Member& member : members) {
    if (!AreAlike(members.front().kernels, member.kernels)) return {};
  }
  return members;
}

}  // namespace

void AssumeWorld(std::vector<Rank>& ranks) {
  std::vector<Member> members = MembersOf(ranks);
  if (members.empty()) return;
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return a.rank->process.pid < b.rank->process.pid;
  });
  for (std::size_t place = 0; place < members.size(); ++place) {
    Communicator& world = members[place].rank->communicators.emplace_back();
    world.hash = kAssumedWorld;
    world.rank = static_cast<int>(place);
    world.size = static_cast<int>(members.size());
    world.device = members[place].device;
  }
}

std::string DescribeAssumed(const Run& run) {
  const auto members = std::count_if(run.ranks.begin(), run.ranks.end(), [](const Rank& rank) {
    return !rank.rank && rank.collectives.size() == 0 && rank.communicators.size() == 1 &&
           rank.communicators.front().hash == kAssumedWorld;
  });
  if (members == 0) return {};
  return fmt::format(
      "the trace does not tell the communicators of NCCL's operations: its {} processes, which ran "
      "the same, are taken to be the ranks of one",
      members);
}

}  // namespace traceinject
