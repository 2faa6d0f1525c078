// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/link_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analyzer/common/mean.h"
#include "analyzer/common/median.h"
#include "analyzer/metrics/links/collectives.h"

namespace traceinject {
namespace {

constexpr double kOutlierDeviations = 4;
constexpr double kNormalMadScale = 1.4826;  // of a normal distribution
constexpr std::size_t kFewForMedian = 3;    // groups: a slow one is too large a part of them

// Of an exchange both sides see their own: what one sends, the other receives.
const std::string& FunctionOf(const OperationKind& kind) {
  static const std::string kSend = "Send";
  return kind.function == "Recv" ? kSend : kind.function;
}

// The kind of an operation and its shortest kernel; null: a record is missing.
const OperationKind* ShortestOf(const Job& job, const MatchedGroup& group, std::size_t op,
                                TimeNs& shortest) {
  const OperationKind* kind = nullptr;
  shortest = kOpen;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const std::uint32_t row = group.row(op, m);
    // The rank that is missing may have had the shortest kernel.
    if (row == kNone) return nullptr;
    const RankSummary& summary = job.ranks[group.members[m].summary];
    const GroupOperations& rows = summary.groups[group.members[m].group];
    if (kind == nullptr) kind = &summary.kinds[rows.kind[row]];
    shortest = std::min(shortest, rows.end[row] - rows.start[row]);
  }
  return kind;
}

struct LinkTransfers {
  std::vector<double> ns_per_byte, ns;
  double total_ns = 0, bytes = 0;
};

void AddGroup(const Job& job, const MatchedGroup& group, std::size_t index, std::size_t link,
              LinkRates& to) {
  if (group.members.empty()) return;
  const bool one_host = IsOnOneHost(job, group);
  std::map<const OperationKind*, LinkTransfers> by_kind;
  for (std::size_t op = 0; op < group.operations; ++op) {
    TimeNs shortest = kOpen;
    const OperationKind* const kind = ShortestOf(job, group, op, shortest);
    if (kind == nullptr || kind->bytes <= 0 || shortest <= 0) continue;
    if (!group.pair && !WaitsForAllRanks(kind->function)) continue;
    const auto bytes = static_cast<double>(kind->bytes), ns = static_cast<double>(shortest);
    LinkTransfers& one = by_kind[kind];
    one.ns_per_byte.push_back(ns / bytes);
    one.ns.push_back(ns);
    one.total_ns += ns;
    one.bytes += bytes;
  }
  std::map<LinkClass, LinkTransfers> by_class;
  for (auto& [kind, from] : by_kind) {
    const int log2_bytes =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(kind->bytes)));
    LinkTransfers& one = by_class[{group.pair ? 2 : group.size, group.pair, one_host,
                                   FunctionOf(*kind), kind->algorithm, kind->protocol, log2_bytes}];
    one.ns_per_byte.insert(one.ns_per_byte.end(), from.ns_per_byte.begin(), from.ns_per_byte.end());
    one.ns.insert(one.ns.end(), from.ns.begin(), from.ns.end());
    one.total_ns += from.total_ns;
    one.bytes += from.bytes;
  }
  for (auto& [key, one] : by_class) {
    const auto count = static_cast<std::int64_t>(one.ns.size());
    to[key].push_back({index, link, count, Median(std::move(one.ns_per_byte)),
                       Median(std::move(one.ns)), one.total_ns, one.bytes});
  }
}

}  // namespace

bool IsOnOneHost(const Job& job, const MatchedGroup& group) {
  const GroupMember& first = group.members.front();
  const int nodes = job.ranks[first.summary].groups[first.group].nodes;
  if (nodes == 1) return true;
  const bool alike =
      std::all_of(group.members.begin(), group.members.end(), [&](const GroupMember& member) {
        return AreOnOneHost(job.ranks[member.summary], job.ranks[first.summary]);
      });
  return alike && (group.pair || nodes < 0);
}

LinkRates MeasureLinks(const Job& job, const std::vector<MatchedGroup>& groups) {
  LinkRates rates;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> links;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t link = g;
    if (const auto& members = groups[g].members; groups[g].pair && members.size() == 2)
      link =
          links.try_emplace(std::minmax(members[0].summary, members[1].summary), g).first->second;
    AddGroup(job, groups[g], g, link, rates);
  }
  return rates;
}

std::vector<double> TransfersAtMean(std::size_t groups, const LinkRates& rates) {
  std::vector<double> total(groups), at_mean(groups), factors(groups, 1);
  for (const auto& [work, list] : rates) {
    double ns = 0, bytes = 0;
    for (const GroupRate& rate : list) ns += rate.total_ns, bytes += rate.bytes;
    for (const GroupRate& rate : list) {
      total[rate.group] += rate.total_ns;
      at_mean[rate.group] += ns * rate.bytes / bytes;
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (total[g] > 0) factors[g] = at_mean[g] / total[g];
  }
  return factors;
}

UsualRate UsualOf(const std::vector<GroupRate>& rates) {
  std::map<std::size_t, std::vector<double>> links;
  for (const GroupRate& rate : rates) {
    if (rate.count >= kMinTransfers) links[rate.link].push_back(rate.ns_per_byte);
  }
  std::vector<double> values;
  for (const auto& [link, of_link] : links) values.push_back(Mean(of_link));
  if (values.size() < 2) return {};
  if (values.size() <= kFewForMedian) {
    const double fastest = *std::min_element(values.begin(), values.end());
    return {fastest, kSlowRatio * fastest};
  }
  const double median = Median(values);
  for (double& value : values) value = std::abs(value - median);
  return {median, std::max(kSlowRatio * median, median + kOutlierDeviations * kNormalMadScale *
                                                             Median(std::move(values)))};
}

bool IsComparable(const LinkClass& of) { return of.least_bytes() >= kLatencyBoundBytes; }

}  // namespace traceinject
