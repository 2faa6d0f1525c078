// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/links/nccl_transports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace traceinject {
namespace {

using Pair = std::pair<int, int>;  // of ranks, the lower one first; CollNet: twice the same

struct Ways {
  std::set<Pair> pairs;
  int channels_min = 0, channels_max = 0;
  std::string network;  // empty: none
  bool gdrdma = false, shared_memory = false;
};

// One communicator, or what is told of unknown ones in one process.
struct Group {
  NcclConnections transport;
  std::set<int> ranks;
  std::map<int, const std::string*> hosts;  // by rank
  std::map<std::string, Ways> ways;         // by the name of the path
};

std::string PathName(const NcclLink& link) {
  if (link.network.empty())
    return link.detail.empty() ? link.transport : link.transport + "/" + link.detail;
  return link.transport + "/" + link.network + (link.gdrdma.value_or(false) ? "/GDRDMA" : "");
}

void Add(const NcclSetup& setup, const std::string& host, Group& group) {
  NcclConnections& to = group.transport;
  group.ranks.insert(setup.rank);
  group.hosts[setup.rank] = &host;
  to.size = setup.size;
  to.nodes = setup.nodes;
  to.network = setup.network;
  to.rings = setup.rings;
  to.trees = setup.trees;
  to.channels = setup.channels;
  to.nvls_channels = setup.nvls_channels;
  to.nvls |= setup.nvls;
}

void Add(const NcclLink& link, Group& group) {
  Ways& ways = group.ways[PathName(link)];
  const int peer = link.peer.value_or(link.rank);
  ways.channels_min =
      ways.pairs.empty() ? link.channels : std::min(ways.channels_min, link.channels);
  ways.channels_max = std::max(ways.channels_max, link.channels);
  ways.pairs.insert(std::minmax(link.rank, peer));
  ways.network = link.network;
  ways.gdrdma = link.gdrdma.value_or(false);
  ways.shared_memory = link.transport == "SHM";
}

std::string PairsExchange(std::size_t count) {
  return count == 1 ? "1 pair of ranks exchanges data"
                    : fmt::format("{} pairs of ranks exchange data", count);
}

std::string OnOneHost(std::size_t count, std::size_t all) {
  if (count == 0) return "";
  if (count < all) return fmt::format(", {} of them on one host", count);
  return all == 1 ? ", though both are on one host" : ", though both ranks of each are on one host";
}

std::set<Pair> PairsOnOneHost(const Group& group, const std::set<Pair>& pairs) {
  std::set<Pair> found;
  for (const Pair& pair : pairs) {
    const auto a = group.hosts.find(pair.first), b = group.hosts.find(pair.second);
    if (a != group.hosts.end() && b != group.hosts.end() && *a->second == *b->second &&
        pair.first != pair.second)
      found.insert(pair);
  }
  return found;
}

// What is not from GPU to GPU.
std::vector<NcclRemark> Remarks(const Group& group) {
  std::set<Pair> by_host_memory;
  struct ByNetwork {
    std::set<Pair> all, staged;
  };
  std::map<std::string, ByNetwork> by_network;
  for (const auto& [name, ways] : group.ways) {
    if (ways.shared_memory) by_host_memory.insert(ways.pairs.begin(), ways.pairs.end());
    if (ways.network.empty() || name.starts_with("COLLNET")) continue;
    ByNetwork& pairs = by_network[ways.network];
    pairs.all.insert(ways.pairs.begin(), ways.pairs.end());
    if (!ways.gdrdma) pairs.staged.insert(ways.pairs.begin(), ways.pairs.end());
  }
  std::vector<NcclRemark> remarks;
  if (!by_host_memory.empty())
    remarks.push_back({"nccl_host_memory", PairsExchange(by_host_memory.size()) +
                                               " through host memory (SHM), not GPU to GPU."});
  for (const auto& [network, pairs] : by_network) {
    const bool sockets = network == "Socket";
    const std::size_t local = PairsOnOneHost(group, pairs.all).size();
    if (sockets || local > 0)
      remarks.push_back({sockets ? "nccl_sockets" : "nccl_local_network",
                         PairsExchange(pairs.all.size()) + " through " +
                             (sockets ? "TCP sockets" : network) +
                             OnOneHost(local, pairs.all.size()) + "."});
    if (!sockets && !pairs.staged.empty())
      remarks.push_back({"nccl_no_gdr", PairsExchange(pairs.staged.size()) + " through " + network +
                                            " via host memory: GPUDirect RDMA is not used."});
  }
  return remarks;
}

NcclConnections Finish(Group& group) {
  group.transport.ranks_told = static_cast<int>(group.ranks.size());
  for (const auto& [name, ways] : group.ways)
    group.transport.paths.push_back(
        {name, static_cast<int>(ways.pairs.size()), ways.channels_min, ways.channels_max});
  group.transport.remarks = Remarks(group);
  return std::move(group.transport);
}

// The groups of one run, in the order in which they are met.
class Groups {
 public:
  void Add(const Rank& rank) {
    std::vector<std::size_t> of_setup;
    for (const NcclSetup& setup : rank.nccl_setups) {
      of_setup.push_back(Of(rank, setup));
      traceinject::Add(setup, rank.process.host, groups_[of_setup.back()]);
    }
    std::optional<std::size_t> unknown;
    for (const NcclLink& link : rank.nccl_links) {
      if (link.setup == kNone && !unknown) unknown = New();
      Group& group = groups_[link.setup == kNone ? *unknown : of_setup[link.setup]];
      if (link.setup == kNone) group.ranks.insert(link.rank);
      traceinject::Add(link, group);
    }
  }

  std::vector<Group>& all() { return groups_; }

 private:
  std::size_t New() {
    groups_.emplace_back();
    return groups_.size() - 1;
  }

  std::size_t Of(const Rank& rank, const NcclSetup& setup) {
    if (setup.communicator == kNone) return New();
    // A communicator that has the hash of one before it has the same ranks: those are told apart.
    const std::uint64_t hash = rank.communicators[setup.communicator].hash;
    auto& same = by_hash_[{hash, setup.size}];
    for (const std::size_t index : same) {
      if (!groups_[index].ranks.contains(setup.rank)) return index;
    }
    same.push_back(New());
    return same.back();
  }

  std::vector<Group> groups_;
  std::map<std::pair<std::uint64_t, int>, std::vector<std::size_t>> by_hash_;
};

}  // namespace

std::vector<NcclConnections> SummarizeNcclTransports(const Run& run) {
  Groups groups;
  for (const Rank& rank : run.ranks) groups.Add(rank);
  std::vector<NcclConnections> found;
  for (Group& group : groups.all()) {
    NcclConnections transport = Finish(group);
    const auto alike = std::find_if(found.begin(), found.end(), [&](NcclConnections known) {
      known.communicators = 1;
      return known == transport;
    });
    if (alike == found.end()) {
      found.push_back(std::move(transport));
    } else {
      ++alike->communicators;
    }
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const NcclConnections& a, const NcclConnections& b) { return a.size > b.size; });
  return found;
}

}  // namespace traceinject
