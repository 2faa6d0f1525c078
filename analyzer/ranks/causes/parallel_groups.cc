// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/parallel_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace traceinject {
namespace {

// Operations a step from which on a group that hides nothing is a tensor group: two layers' worth.
constexpr double kTensorOperations = 8;
constexpr double kTensorExposedShare = 0.7;

constexpr std::array<std::string_view, 6> kUseNames = {"pipeline", "expert", "tensor",
                                                       "sharded",  "data",   "other"};

// What the members of a group did on it in the regular steps.
struct Usage {
  std::int64_t point_to_point = 0, all_to_all = 0, gathers = 0, scatters = 0, all = 0;
  bool sizes_known = false;
  double bytes = 0, length_ns = 0, exposed_ns = 0;
  double member_steps = 0;  // members x regular steps
  std::set<std::string_view> hosts;
};

void AddRow(const RankSummary& summary, const GroupOperations& rows, std::uint32_t row, Usage& to) {
  const OperationKind& kind = summary.kinds[rows.kind[row]];
  ++to.all;
  to.point_to_point += IsBetweenTwo(kind.function) ? 1 : 0;
  to.all_to_all += kind.function == "AlltoAll" ? 1 : 0;
  to.gathers += kind.function == "AllGather" ? 1 : 0;
  to.scatters += kind.function == "ReduceScatter" ? 1 : 0;
  to.sizes_known |= kind.bytes >= 0;
  to.bytes += kind.bytes > 0 ? static_cast<double>(kind.bytes) : 0;
  to.length_ns += static_cast<double>(rows.end[row] - rows.start[row]);
  to.exposed_ns += static_cast<double>(rows.exposed_ns[row]);
}

void AddMember(const Job& job, const MatchedGroup& group, std::size_t member, const JobSteps& steps,
               Usage& to) {
  const std::size_t index = group.members[member].summary;
  const RankSummary& summary = job.ranks[index];
  const GroupOperations& rows = summary.groups[group.members[member].group];
  if (!steps.first[index]) return;
  const std::size_t first = *steps.first[index];
  to.hosts.insert(summary.host);
  for (std::size_t i = 0; i < summary.steps.size(); ++i)
    to.member_steps += steps.regular[first + i] ? 1 : 0;
  for (std::size_t op = 0; op < group.operations; ++op) {
    const std::uint32_t row = group.row(op, member);
    if (row != kNone && rows.step[row] != kNone && steps.regular[first + rows.step[row]])
      AddRow(summary, rows, row, to);
  }
}

GroupUse UseOf(const Usage& usage) {
  const double operations = static_cast<double>(usage.all) / usage.member_steps;
  if (operations < 1 ||
      (usage.sizes_known && usage.bytes / usage.member_steps < double{kMinGroupBytes}))
    return GroupUse::kOther;
  const auto mostly = [&](std::int64_t count) { return 2 * count > usage.all; };
  if (mostly(usage.point_to_point)) return GroupUse::kPipeline;
  if (mostly(usage.all_to_all)) return GroupUse::kExpert;
  const bool exposed = usage.exposed_ns > kTensorExposedShare * usage.length_ns;
  if (operations >= kTensorOperations && exposed) return GroupUse::kTensor;
  if (usage.gathers > 0 && usage.scatters > 0 && mostly(usage.gathers + usage.scatters))
    return GroupUse::kSharded;
  return GroupUse::kData;
}

}  // namespace

std::string_view GroupUseName(GroupUse use) { return kUseNames[static_cast<std::size_t>(use)]; }

std::vector<ParallelGroups> FindParallelGroups(const Job& job,
                                               const std::vector<MatchedGroup>& groups,
                                               const JobSteps& steps) {
  std::map<std::pair<GroupUse, int>, std::pair<ParallelGroups, double>> found;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Usage usage;
    for (std::size_t m = 0; m < groups[g].members.size(); ++m)
      AddMember(job, groups[g], m, steps, usage);
    if (usage.member_steps == 0 || usage.all == 0) continue;
    auto& [to, member_steps] = found[{UseOf(usage), groups[g].size}];
    to.count += to.groups.empty() || groups[to.groups.back()].hash != groups[g].hash ||
                        groups[to.groups.back()].life != groups[g].life
                    ? 1
                    : 0;
    to.groups.push_back(g);
    if (usage.hosts.contains("")) to.one_host.reset();
    if (to.one_host) *to.one_host &= usage.hosts.size() == 1;
    to.operations += static_cast<double>(usage.all);
    to.bytes += usage.bytes;
    to.communication_ns += usage.length_ns;
    to.exposed_ns += usage.exposed_ns;
    member_steps += usage.member_steps;
  }
  std::vector<ParallelGroups> list;
  for (auto& [key, value] : found) {
    auto& [one, member_steps] = value;
    one.use = key.first;
    one.size = key.second;
    for (double ParallelGroups::*mean :
         {&ParallelGroups::operations, &ParallelGroups::bytes, &ParallelGroups::communication_ns,
          &ParallelGroups::exposed_ns})
      one.*mean /= member_steps;
    list.push_back(std::move(one));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.exposed_ns > b.exposed_ns; });
  return list;
}

}  // namespace traceinject
