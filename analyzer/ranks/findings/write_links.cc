// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/write_links.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "analyzer/metrics/report/set_if.h"
#include "analyzer/ranks/match/rank_names.h"

namespace traceinject {
namespace {

constexpr int kMaxSlowGroups = 16;  // of a row

void WriteSlowGroup(const Job& job, const MatchedGroup& group, const OutlierGroup& from,
                    proto::SlowGroup& to) {
  std::vector<std::size_t> members;
  for (const GroupMember& member : group.members) {
    to.add_rows(static_cast<int>(member.summary));
    members.push_back(member.summary);
  }
  to.set_ranks(RankNames(job, members));
  to.set_communicator(CommunicatorName(group));
  to.set_ratio(from.ratio);
  to.set_busbw_gb_per_s(from.busbw_gb_per_s);
  to.set_link(from.link);
}

}  // namespace

void WriteLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                const std::vector<JobLink>& links, proto::Ranks& to) {
  for (const JobLink& from : links) {
    proto::Link& row = *to.add_links();
    row.set_use(std::string(GroupUseName(from.use)));
    row.set_function(from.work.function);
    row.set_algorithm(from.work.algorithm);
    row.set_protocol(from.work.protocol);
    row.set_size(from.work.size);
    row.set_one_host(from.work.one_host);
    row.set_bucket_low_bytes(from.work.least_bytes());
    row.set_groups(static_cast<std::int64_t>(from.groups));
    row.set_count(from.count);
    row.set_bytes(std::llround(from.bytes));
    row.set_transfer_ns(std::llround(from.transfer_ns));
    row.set_total_ns(std::llround(from.total_ns));
    row.set_algbw_gb_per_s(from.algbw_gb_per_s);
    SetIf(from.busbw_gb_per_s, [&](double v) { row.set_busbw_gb_per_s(v); });
    SetIf(from.slowest_gb_per_s, [&](double v) { row.set_slowest_gb_per_s(v); });
    SetIf(from.fastest_gb_per_s, [&](double v) { row.set_fastest_gb_per_s(v); });
    row.set_latency_bound(!IsComparable(from.work));
    row.set_waiting_included(from.waiting_included);
    row.set_link(from.link.name);
    SetIf(from.link.gb_per_s, [&](double v) { row.set_link_gb_per_s(v); });
    SetIf(from.link_share, [&](double v) { row.set_link_share(v); });
    row.set_reason(from.link.reason);
    for (const OutlierGroup& slow : from.outliers) {
      if (row.slow_size() == kMaxSlowGroups) break;
      WriteSlowGroup(job, groups[slow.group], slow, *row.add_slow());
    }
    row.set_slow_groups(static_cast<std::int64_t>(from.outliers.size()));
  }
}

}  // namespace traceinject
