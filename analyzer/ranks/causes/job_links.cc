// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/job_links.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/common/median.h"
#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/links/collectives.h"

namespace traceinject {
namespace {

constexpr std::string_view kSwitchAddsUp =
    "with NVLink SHARP (NVLS) the switch does the reduction, so busbw is not the link rate";

// The slower of two; a rate that is not known (0) stays so.
double Slower(double a, double b) { return std::min(a, b); }

// What a group of two ranks of a larger communicator is connected by is not reported apart from
// what connects the others.
NcclTransport WayOf(const MatchedGroup& group, bool one_host, NcclTransport slowest) {
  const bool network = slowest == NcclTransport::kSockets || slowest == NcclTransport::kNetwork;
  return group.pair && one_host && network ? NcclTransport::kUnknown : slowest;
}

bool LimitsWays(const RankSummary& rank) {
  return std::any_of(rank.nccl_settings.begin(), rank.nccl_settings.end(),
                     [](const std::string& setting) { return LimitsP2p(setting); });
}

// Names the uses of the matched groups.
std::vector<GroupUse> UseOfGroups(std::size_t groups, const std::vector<ParallelGroups>& uses) {
  std::vector<GroupUse> use(groups, GroupUse::kOther);
  for (const ParallelGroups& one : uses) {
    for (const std::size_t g : one.groups) use[g] = one.use;
  }
  return use;
}

// One row of the list while it is made.
class LinkWriter {
 public:
  LinkWriter(const Job& job, const std::vector<MatchedGroup>& groups) : job_(job), groups_(groups) {
    links_.resize(groups.size());
  }

  JobLink Write(GroupUse use, const LinkClass& work, const std::vector<GroupRate>& rates) {
    JobLink row;
    row.use = use;
    row.work = work;
    row.groups = rates.size();
    std::vector<double> ns_per_byte, transfers;
    for (const GroupRate& rate : rates) {
      row.count += rate.count;
      row.bytes += rate.bytes;
      row.total_ns += rate.total_ns;
      ns_per_byte.push_back(rate.ns_per_byte);
      transfers.push_back(rate.transfer_ns);
      const MatchedGroup& group = groups_[rate.group];
      row.waiting_included |=
          !group.pair && group.members.size() < static_cast<std::size_t>(std::max(group.size, 0));
    }
    row.bytes /= static_cast<double>(row.count);
    const auto [fastest, slowest] = std::minmax_element(ns_per_byte.begin(), ns_per_byte.end());
    row.transfer_ns = Median(std::move(transfers));
    row.algbw_gb_per_s = 1 / Median(ns_per_byte);
    if (const auto factor = BusFactor(work.function, work.size)) {
      row.busbw_gb_per_s = *factor * row.algbw_gb_per_s;
      row.slowest_gb_per_s = *factor / *slowest;
      row.fastest_gb_per_s = *factor / *fastest;
    }
    SetLink(rates, row);
    if (IsComparable(work)) AddOutliers(rates, row);
    return row;
  }

 private:
  const ExpectedLink& LinkOf(std::size_t group) {
    if (!links_[group]) links_[group] = LinkOfGroup(job_, groups_[group]);
    return *links_[group];
  }

  void SetLink(const std::vector<GroupRate>& rates, JobLink& row) {
    row.link = LinkOf(rates.front().group);
    std::set<std::string_view> names;
    for (const GroupRate& rate : rates) {
      const ExpectedLink& link = LinkOf(rate.group);
      names.insert(link.name.empty() ? "unknown" : link.name);
      // A rate that is not known counts as none: what is expected is not known, either.
      if (link.gb_per_s.value_or(0) < row.link.gb_per_s.value_or(0)) row.link = link;
    }
    if (names.size() > 1) {
      std::string list;
      for (const std::string_view name : names)
        list += (list.empty() ? "" : ", ") + std::string(name);
      row.link = {"", std::nullopt, "groups use different links: " + list};
    }
    if (!IsComparable(row.work) || !row.busbw_gb_per_s || !row.link.gb_per_s) return;
    if (row.work.algorithm.find("NVLS") != std::string::npos) {
      row.link.reason = kSwitchAddsUp;
    } else if (*row.busbw_gb_per_s > *row.link.gb_per_s) {
      row.link.reason = kAboveLink;
    } else {
      row.link_share = *row.busbw_gb_per_s / *row.link.gb_per_s;
    }
  }

  void AddOutliers(const std::vector<GroupRate>& rates, JobLink& row) {
    const UsualRate usual = UsualOf(rates);
    if (usual.ns_per_byte <= 0) return;
    for (const GroupRate& rate : rates) {
      if (rate.count < kMinTransfers || rate.ns_per_byte <= usual.limit) continue;
      const double factor = BusFactor(row.work.function, row.work.size).value_or(1);
      row.outliers.push_back({rate.group, rate.ns_per_byte / usual.ns_per_byte,
                              factor / rate.ns_per_byte, LinkOf(rate.group).name});
    }
    std::stable_sort(
        row.outliers.begin(), row.outliers.end(),
        [](const OutlierGroup& a, const OutlierGroup& b) { return a.ratio > b.ratio; });
  }

  const Job& job_;
  const std::vector<MatchedGroup>& groups_;
  std::vector<std::optional<ExpectedLink>> links_;  // per group, once it was asked for
};

}  // namespace

ExpectedLink LinkOfGroup(const Job& job, const MatchedGroup& group) {
  const RankSummary& first = job.ranks[group.members.front().summary];
  LinkFacts facts;
  facts.gpu = first.gpu;
  facts.one_host = IsOnOneHost(job, group);
  facts.nvlink_gb_per_s = first.nvlink_gb_per_s;
  if (!first.host_link.empty()) facts.host = HostLink{first.host_link, first.host_link_gb_per_s};
  NcclTransport slowest = NcclTransport::kUnknown;
  std::map<std::string_view, double> network;  // by host
  bool tabled = true;
  for (const GroupMember& member : group.members) {
    const RankSummary& rank = job.ranks[member.summary];
    const GroupOperations& rows = rank.groups[member.group];
    slowest = std::max(slowest, rows.way);
    network[rank.host] += rows.network_gb_per_s;
    tabled &= FindGpuSpec(rank.gpu) != nullptr;
    facts.limits_p2p |= LimitsWays(rank);
    facts.nvlink_gb_per_s = Slower(facts.nvlink_gb_per_s, rank.nvlink_gb_per_s);
    if (rank.host_link.empty()) {
      facts.host.reset();
    } else if (facts.host && rank.host_link_gb_per_s < facts.host->gb_per_s) {
      facts.host = HostLink{rank.host_link, rank.host_link_gb_per_s};
    }
  }
  facts.way = WayOf(group, facts.one_host, slowest);
  facts.nvlink = facts.nvlink_gb_per_s > 0;
  // All data crosses the slowest host.
  facts.network_gb_per_s = network.begin()->second;
  for (const auto& [host, rate] : network)
    facts.network_gb_per_s = Slower(facts.network_gb_per_s, rate);
  if (facts.way == NcclTransport::kGpuToGpu && !facts.nvlink && !tabled)
    return {"", std::nullopt, "it is unknown whether its GPUs have NVLink"};
  return LinkBetween(facts);
}

std::vector<JobLink> ListLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                               const LinkRates& rates, const std::vector<ParallelGroups>& uses) {
  const std::vector<GroupUse> use = UseOfGroups(groups.size(), uses);
  LinkWriter writer(job, groups);
  std::vector<JobLink> rows;
  for (const auto& [work, all] : rates) {
    std::map<GroupUse, std::vector<GroupRate>> by_use;
    for (const GroupRate& rate : all) by_use[use[rate.group]].push_back(rate);
    for (const auto& [of, list] : by_use) rows.push_back(writer.Write(of, work, list));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const JobLink& a, const JobLink& b) { return a.total_ns > b.total_ns; });
  return rows;
}

}  // namespace traceinject
