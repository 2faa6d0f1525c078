// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/slow_transports.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/metrics/links/collectives.h"

namespace traceinject {
namespace {

// The slowest NVLink of the ranks of a group that lies within a host; 0: it does not, or not all
// have NVLink or were recorded.
double LinkOf(const Job& job, const MatchedGroup& group) {
  if (group.pair || group.members.size() < 2 ||
      group.members.size() != static_cast<std::size_t>(group.size))
    return 0;
  const RankSummary& first = job.ranks[group.members.front().summary];
  double slowest = first.nvlink_gb_per_s;
  for (const GroupMember& member : group.members) {
    const RankSummary& rank = job.ranks[member.summary];
    if (!AreOnOneHost(rank, first)) return 0;
    slowest = std::min(slowest, rank.nvlink_gb_per_s);
  }
  return slowest;
}

struct Transfers {
  double bus_bytes = 0, ns = 0;
  double most_ns = 0;  // of one kind of operation
  const OperationKind* main = nullptr;

  double gb_per_s() const { return ns > 0 ? bus_bytes / ns : 0; }
};

Transfers LargeTransfers(const Job& job, const MatchedGroup& group) {
  Transfers sum;
  std::map<const OperationKind*, double> by_kind;
  for (std::size_t op = 0; op < group.operations; ++op) {
    TimeNs shortest = kOpen;
    const OperationKind* kind = nullptr;
    bool complete = true;
    for (std::size_t m = 0; m < group.members.size() && complete; ++m) {
      const std::uint32_t row = group.row(op, m);
      complete = row != kNone;
      if (!complete) break;
      const RankSummary& rank = job.ranks[group.members[m].summary];
      const GroupOperations& rows = rank.groups[group.members[m].group];
      if (m == 0) kind = &rank.kinds[rows.kind[row]];
      shortest = std::min(shortest, rows.end[row] - rows.start[row]);
    }
    if (!complete || kind == nullptr || kind->bytes < kLargeMessageBytes || shortest <= 0 ||
        !WaitsForAllRanks(kind->function) || kind->algorithm.find("NVLS") != std::string::npos)
      continue;
    const std::optional<double> factor = BusFactor(kind->function, group.size);
    if (!factor) continue;
    const auto ns = static_cast<double>(shortest);
    sum.bus_bytes += *factor * static_cast<double>(kind->bytes);
    sum.ns += ns;
    if ((by_kind[kind] += ns) > sum.most_ns) {
      sum.most_ns = by_kind[kind];
      sum.main = kind;
    }
  }
  return sum;
}

}  // namespace

std::optional<SlowTransport> FindSlowTransport(const Job& job,
                                               const std::vector<MatchedGroup>& groups,
                                               const WorkTable& work, const JobReplay& replay) {
  SlowTransport slow;
  std::map<std::size_t, double> factors;  // on the transfers of each slow group
  std::set<std::size_t> ranks;
  double most_ns = 0, factor_of_main = 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double link = LinkOf(job, groups[g]);
    if (link <= 0) continue;
    const Transfers large = LargeTransfers(job, groups[g]);
    if (large.main == nullptr || large.gb_per_s() >= kSlowTransportShare * link) continue;
    factors[g] = large.gb_per_s() / (kReachedShare * link);
    for (const GroupMember& member : groups[g].members) {
      ranks.insert(member.summary);
      slow.way = std::max(slow.way, job.ranks[member.summary].groups[member.group].way);
    }
    if (large.ns <= most_ns) continue;
    most_ns = large.ns;
    factor_of_main = factors[g];
    slow.function = large.main->function;
    slow.algorithm = large.main->algorithm;
    slow.protocol = large.main->protocol;
    slow.bytes = large.main->bytes;
    slow.busbw_gb_per_s = large.gb_per_s();
    slow.link_gb_per_s = link;
  }
  if (factors.empty()) return std::nullopt;
  slow.ranks.assign(ranks.begin(), ranks.end());
  slow.settings = job.ranks[slow.ranks.front()].nccl_settings;
  JobChange usual;
  usual.transfer = [&](std::size_t g) {
    const auto found = factors.find(g);
    return found == factors.end() ? 1.0 : found->second;
  };
  // What ran beside the transfers that are over sooner.
  usual.own = [&](std::size_t rank, std::size_t step) {
    return ranks.contains(rank) ? work.FactorWithout(rank, step, 1 - factor_of_main) : 1;
  };
  slow.saving = SavingOf(replay, usual);
  return slow;
}

}  // namespace traceinject
