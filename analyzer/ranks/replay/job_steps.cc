// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/job_steps.h"

#include <algorithm>
#include <deque>
#include <map>

namespace traceinject {
namespace {

// What two ranks' common operations say of the difference of their step numbers.
struct Vote {
  std::int64_t difference = 0, votes = 0;
};

// More operations than this of a group say nothing new.
constexpr std::size_t kMaxVotes = 2000;

// The difference (member's step minus that of the first member) that most common operations have.
Vote VoteOf(const Job& job, const MatchedGroup& group, std::size_t base, std::size_t member) {
  const auto column = [&](std::size_t m) -> const GroupOperations& {
    return job.ranks[group.members[m].summary].groups[group.members[m].group];
  };
  std::map<std::int64_t, std::int64_t> votes;
  const std::size_t size = group.members.size();
  const std::size_t stride = 1 + group.operations / kMaxVotes;
  for (std::size_t op = 0; op < group.operations; op += stride) {
    const std::uint32_t a = group.rows[op * size + base], b = group.rows[op * size + member];
    if (a == kNone || b == kNone) continue;
    const std::uint32_t step_a = column(base).step[a], step_b = column(member).step[b];
    if (step_a == kNone || step_b == kNone) continue;
    ++votes[std::int64_t{step_b} - std::int64_t{step_a}];
  }
  Vote best;
  for (const auto& [difference, count] : votes) {
    if (count > best.votes) best = {difference, count};
  }
  return best;
}

// Groups that each rank is in, as (group, index of the member).
using Seats = std::vector<std::vector<std::pair<std::size_t, std::size_t>>>;

Seats FindSeats(const Job& job, const std::vector<MatchedGroup>& groups) {
  Seats seats(job.ranks.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t m = 0; m < groups[g].members.size(); ++m)
      seats[groups[g].members[m].summary].emplace_back(g, m);
  }
  return seats;
}

}  // namespace

const StepFacts* JobSteps::Find(const Job& job, std::size_t summary, std::size_t step) const {
  if (!first[summary] || step < *first[summary]) return nullptr;
  const std::size_t own = step - *first[summary];
  const std::vector<StepFacts>& steps = job.ranks[summary].steps;
  return own < steps.size() ? &steps[own] : nullptr;
}

std::size_t JobSteps::count_regular() const {
  return static_cast<std::size_t>(std::count(regular.begin(), regular.end(), true));
}

JobSteps NumberSteps(const Job& job, const std::vector<MatchedGroup>& groups) {
  JobSteps steps;
  steps.first.resize(job.ranks.size());
  if (job.ranks.empty()) return steps;
  const auto most = std::max_element(
      job.ranks.begin(), job.ranks.end(),
      [](const RankSummary& a, const RankSummary& b) { return a.steps.size() < b.steps.size(); });
  if (most->steps.empty()) return steps;
  const Seats seats = FindSeats(job, groups);
  std::vector<std::optional<std::int64_t>> shift(job.ranks.size());
  std::deque<std::size_t> next{static_cast<std::size_t>(most - job.ranks.begin())};
  shift[next.front()] = 0;
  std::vector<bool> seen(groups.size());
  while (!next.empty()) {
    const std::size_t from = next.front();
    next.pop_front();
    for (const auto& [g, base] : seats[from]) {
      if (seen[g]) continue;
      seen[g] = true;
      for (std::size_t m = 0; m < groups[g].members.size(); ++m) {
        const std::size_t to = groups[g].members[m].summary;
        if (shift[to] || job.ranks[to].steps.empty()) continue;
        const Vote vote = VoteOf(job, groups[g], base, m);
        if (vote.votes == 0) continue;
        shift[to] = *shift[from] - vote.difference;
        next.push_back(to);
      }
    }
  }
  std::int64_t lowest = 0, highest = 0;
  for (std::size_t r = 0; r < shift.size(); ++r) {
    if (!shift[r]) continue;
    lowest = std::min(lowest, *shift[r]);
    highest = std::max(highest, *shift[r] + static_cast<std::int64_t>(job.ranks[r].steps.size()));
  }
  steps.count = static_cast<std::size_t>(highest - lowest);
  std::vector<std::int64_t> votes(steps.count);
  for (std::size_t r = 0; r < shift.size(); ++r) {
    if (!shift[r]) continue;
    steps.first[r] = static_cast<std::size_t>(*shift[r] - lowest);
    for (std::size_t i = 0; i < job.ranks[r].steps.size(); ++i)
      votes[*steps.first[r] + i] += job.ranks[r].steps[i].regular ? 1 : -1;
  }
  for (const std::int64_t vote : votes) steps.regular.push_back(vote > 0);
  return steps;
}

}  // namespace traceinject
