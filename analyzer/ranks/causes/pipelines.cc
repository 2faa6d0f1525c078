// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/pipelines.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace traceinject {
namespace {

bool Sends(const OperationKind& kind) { return kind.function.find("Send") != std::string::npos; }

// Who exchanges data with whom.
using Neighbors = std::vector<std::set<std::size_t>>;

Neighbors FindNeighbors(const Job& job, const std::vector<MatchedGroup>& groups) {
  Neighbors neighbors(job.ranks.size());
  for (const MatchedGroup& group : groups) {
    if (!group.pair || group.operations == 0) continue;
    const std::size_t a = group.members[0].summary, b = group.members[1].summary;
    neighbors[a].insert(b);
    neighbors[b].insert(a);
  }
  return neighbors;
}

// The first operation between two ranks of each step, and how many a step sends.
struct Exchange {
  std::int64_t steps = 0, sends_first = 0, sends = 0;
};

Exchange ExchangeOf(const RankSummary& summary) {
  struct First {
    TimeNs time = 0;
    bool sends = false;
  };
  std::map<std::uint32_t, First> first;  // by step
  Exchange found;
  for (const GroupOperations& group : summary.groups) {
    for (std::size_t i = 0; i < group.count(); ++i) {
      const OperationKind& kind = summary.kinds[group.kind[i]];
      if (!IsBetweenTwo(kind.function) || group.step[i] == kNone) continue;
      const bool sends = Sends(kind);
      found.sends += sends ? 1 : 0;
      const auto [at, is_new] = first.try_emplace(group.step[i], First{group.start[i], sends});
      if (!is_new && group.start[i] < at->second.time) at->second = {group.start[i], sends};
    }
  }
  found.steps = static_cast<std::int64_t>(first.size());
  for (const auto& [step, one] : first) found.sends_first += one.sends ? 1 : 0;
  return found;
}

// The members of a chain in its order, from the rank that sends first; empty: it is none.
std::vector<std::size_t> ChainOf(const Job& job, const Neighbors& neighbors, std::size_t from,
                                 std::vector<bool>& seen) {
  std::vector<std::size_t> members{from}, ends;
  seen[from] = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::set<std::size_t>& others = neighbors[members[i]];
    if (others.size() == 1) ends.push_back(members[i]);
    for (const std::size_t other : others) {
      if (seen[other]) continue;
      seen[other] = true;
      members.push_back(other);
    }
  }
  const bool is_chain =
      ends.size() == 2 && std::all_of(members.begin(), members.end(), [&](std::size_t member) {
        return neighbors[member].size() <= 2;
      });
  if (!is_chain) return {};
  const auto sends_first = [&](std::size_t member) {
    const Exchange exchange = ExchangeOf(job.ranks[member]);
    return exchange.steps > 0 && 2 * exchange.sends_first > exchange.steps;
  };
  std::vector<std::size_t> chain{sends_first(ends[0]) || !sends_first(ends[1]) ? ends[0] : ends[1]};
  std::set<std::size_t> used{chain.front()};
  while (chain.size() < members.size()) {
    for (const std::size_t next : neighbors[chain.back()]) {
      if (!used.insert(next).second) continue;
      chain.push_back(next);
      break;
    }
  }
  return chain;
}

bool AreTold(const Job& job) {
  return std::any_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankSummary& rank) { return rank.stage >= 0; });
}

// As told; returns the ranks of the first stage.
std::vector<std::size_t> TakeStages(const Job& job, Pipelines& to) {
  std::vector<std::size_t> heads;
  std::size_t stages = 0;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const int stage = job.ranks[r].stage;
    if (stage < 0) continue;
    to.stage[r] = static_cast<std::uint32_t>(stage);
    stages = std::max(stages, static_cast<std::size_t>(stage) + 1);
    if (stage == 0) heads.push_back(r);
  }
  // More than there are ranks: they are no numbers of stages.
  if (stages < 2 || stages > job.ranks.size() || heads.empty()) {
    to.stage.assign(job.ranks.size(), kNone);
    return {};
  }
  to.stages = stages;
  to.pipelines = heads.size();
  return heads;
}

// From who sends to whom; returns the ranks of the first stage.
std::vector<std::size_t> FindChains(const Job& job, const std::vector<MatchedGroup>& groups,
                                    Pipelines& to) {
  const Neighbors neighbors = FindNeighbors(job, groups);
  std::vector<bool> seen(job.ranks.size());
  std::vector<std::size_t> heads;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (seen[r] || neighbors[r].empty()) continue;
    const std::vector<std::size_t> chain = ChainOf(job, neighbors, r, seen);
    if (chain.empty()) continue;
    for (std::size_t i = 0; i < chain.size(); ++i)
      to.stage[chain[i]] = static_cast<std::uint32_t>(i);
    to.stages = std::max(to.stages, chain.size());
    ++to.pipelines;
    heads.push_back(chain.front());
  }
  return heads;
}

// Of a mean step of a first stage.
std::int64_t MicroBatchesOf(const RankSummary& first) {
  std::set<std::pair<std::uint32_t, std::int32_t>> told;
  std::set<std::uint32_t> steps;
  for (std::size_t i = 0; i < first.work.count(); ++i) {
    if (first.work.step[i] == kNone || first.work.micro_batch[i] < 0) continue;
    told.emplace(first.work.step[i], first.work.micro_batch[i]);
    steps.insert(first.work.step[i]);
  }
  Exchange exchange{static_cast<std::int64_t>(steps.size()), 0,
                    static_cast<std::int64_t>(told.size())};
  if (told.empty()) exchange = ExchangeOf(first);
  return exchange.steps == 0 ? 0 : (exchange.sends + exchange.steps / 2) / exchange.steps;
}

// Whether the ranks of a group hold different stages.
bool SpansStages(const MatchedGroup& group, const std::vector<std::uint32_t>& stage) {
  return std::any_of(group.members.begin(), group.members.end(), [&](const GroupMember& member) {
    return stage[member.summary] != stage[group.members.front().summary];
  });
}

// Of all ranks and regular steps: time blocked in operations with ranks of other stages.
double SumBubbles(const Job& job, const std::vector<MatchedGroup>& groups, const JobSteps& steps,
                  const std::vector<std::uint32_t>& stage) {
  double sum = 0;
  for (const MatchedGroup& group : groups) {
    if (!SpansStages(group, stage)) continue;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const GroupMember& member = group.members[m];
      const GroupOperations& rows = job.ranks[member.summary].groups[member.group];
      if (!steps.first[member.summary]) continue;
      for (std::size_t op = 0; op < group.operations; ++op) {
        const std::uint32_t row = group.row(op, m);
        if (row == kNone || rows.step[row] == kNone) continue;
        if (steps.regular[*steps.first[member.summary] + rows.step[row]])
          sum += static_cast<double>(rows.blocked_ns[row]);
      }
    }
  }
  return sum;
}

}  // namespace

std::optional<double> Pipelines::ideal_bubble_share() const {
  if (stages < 2 || micro_batches <= 0) return std::nullopt;
  const double others = static_cast<double>(stages) - 1;
  return others / (static_cast<double>(micro_batches) + others);
}

Pipelines FindPipelines(const Job& job, const std::vector<MatchedGroup>& groups,
                        const JobSteps& steps) {
  Pipelines found;
  found.stage.assign(job.ranks.size(), kNone);
  const std::vector<std::size_t> heads =
      AreTold(job) ? TakeStages(job, found) : FindChains(job, groups, found);
  if (heads.empty()) return found;
  found.micro_batches = MicroBatchesOf(job.ranks[heads.front()]);

  double rank_steps = 0, lengths = 0;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (found.stage[r] == kNone || !steps.first[r]) continue;
    for (std::size_t i = 0; i < job.ranks[r].steps.size(); ++i) {
      if (!steps.regular[*steps.first[r] + i]) continue;
      ++rank_steps;
      const Interval& time = job.ranks[r].steps[i].time;
      lengths += static_cast<double>(time.end - time.start);
    }
  }
  if (rank_steps > 0) {
    found.bubble_ns = SumBubbles(job, groups, steps, found.stage) / rank_steps;
    found.step_ns = lengths / rank_steps;
  }
  return found;
}

std::vector<double> StageWork(const Pipelines& pipelines, const WorkTable& work) {
  std::vector<double> sums(pipelines.stages), counts(pipelines.stages);
  for (std::size_t r = 0; r < pipelines.stage.size(); ++r) {
    const std::uint32_t stage = pipelines.stage[r];
    if (stage == kNone) continue;
    for (const std::size_t step : work.regular_steps()) {
      const std::optional<double> usual = work.usual_ns(r, step), own = work.own_ns(r, step);
      if (!own) continue;
      sums[stage] += usual.value_or(*own);
      ++counts[stage];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] > 0) sums[i] /= counts[i];
  }
  return sums;
}

}  // namespace traceinject
