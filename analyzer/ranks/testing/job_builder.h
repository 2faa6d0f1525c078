// SPDX-License-Identifier: Apache-2.0
// Builds a Job by hand for tests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

class JobBuilder {
 public:
  // Returns the index of the new rank; they are numbered from 0.
  std::size_t AddRank(const std::string& host) {
    RankSummary summary;
    summary.rank = static_cast<int>(job.ranks.size());
    summary.host = host;
    summary.end = 1'000'000'000;
    job.ranks.push_back(std::move(summary));
    return job.ranks.size() - 1;
  }
  // A communicator of `members`, in their order.
  void AddGroup(std::uint64_t hash, const std::vector<std::size_t>& members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      GroupOperations group;
      group.hash = hash;
      group.size = static_cast<int>(members.size());
      group.rank = static_cast<int>(i);
      job.ranks[members[i]].groups.push_back(std::move(group));
    }
  }
  // On the rank's communicator `hash`; blocked for its last `blocked_ns`.
  void AddOperation(std::size_t rank, std::uint64_t hash, Interval time, TimeNs blocked_ns,
                    const OperationKind& kind = {"AllReduce", 8 << 20}, int peer = -1) {
    RankSummary& summary = job.ranks[rank];
    GroupOperations* group = nullptr;
    for (GroupOperations& one : summary.groups) group = one.hash == hash ? &one : group;
    std::uint32_t known = 0;
    while (known < summary.kinds.size() && !(summary.kinds[known] == kind)) ++known;
    if (known == summary.kinds.size()) summary.kinds.push_back(kind);
    std::uint32_t step = 0;
    while (step < summary.steps.size() && summary.steps[step].time.end <= time.start) ++step;
    group->start.push_back(time.start);
    group->end.push_back(time.end);
    group->launch.push_back(kOpen);
    group->exposed_ns.push_back(blocked_ns);
    group->blocked_ns.push_back(blocked_ns);
    group->kind.push_back(known);
    group->peer.push_back(peer);
    group->sequence.push_back(-1);
    group->step.push_back(step < summary.steps.size() ? step : kNone);
  }
  // Touching steps of this length from time 0 on; all of a step is idle but for what the caller
  // sets.
  void AddSteps(std::size_t rank, std::size_t count, TimeNs length) {
    for (std::size_t i = 0; i < count; ++i) {
      StepFacts step;
      step.time = {static_cast<TimeNs>(i) * length, static_cast<TimeNs>(i + 1) * length};
      job.ranks[rank].steps.push_back(step);
    }
  }

  Job job;
};

}  // namespace traceinject
