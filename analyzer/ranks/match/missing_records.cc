// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/missing_records.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace traceinject {
namespace {

// How far away an operation may be that both ranks recorded.
constexpr std::size_t kFarthest = 64;

TimeNs IdleOf(const StepFacts& step) {
  return std::accumulate(step.idle_ns.begin(), step.idle_ns.end(), TimeNs{0});
}

// What a rank's steps are idle for as a rule.
TimeNs UsualIdle(const RankSummary& summary) {
  std::vector<TimeNs> idle;
  for (const StepFacts& step : summary.steps) idle.push_back(IdleOf(step));
  if (idle.empty()) return 0;
  const auto middle = idle.begin() + static_cast<std::ptrdiff_t>(idle.size() / 2);
  std::nth_element(idle.begin(), middle, idle.end());
  return *middle;
}

class MissingFinder {
 public:
  explicit MissingFinder(const Job& job) : job_(job), found_(job.ranks.size()) {
    for (const RankSummary& summary : job.ranks) usual_idle_.push_back(UsualIdle(summary));
  }

  void Add(const MatchedGroup& group) {
    for (std::size_t op = 0; op < group.operations; ++op) {
      if (!std::any_of(group.rows.begin() + Row(group, op), group.rows.begin() + Row(group, op + 1),
                       [](std::uint32_t row) { return row == kNone; }) ||
          !BlocksMost(group, op))
        continue;
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        if (group.row(op, m) == kNone) AddRank(group, op, m);
      }
    }
  }

  std::vector<Intervals> Finish() {
    for (Intervals& intervals : found_) intervals = Merge(std::move(intervals));
    return std::move(found_);
  }

 private:
  static std::ptrdiff_t Row(const MatchedGroup& group, std::size_t op) {
    return static_cast<std::ptrdiff_t>(op * group.members.size());
  }
  const GroupOperations& RowsOf(const GroupMember& member) const {
    return job_.ranks[member.summary].groups[member.group];
  }

  bool BlocksMost(const MatchedGroup& group, std::size_t op) const {
    std::size_t recorded = 0, blocked = 0;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const std::uint32_t row = group.row(op, m);
      if (row == kNone) continue;
      ++recorded;
      blocked += RowsOf(group.members[m]).blocked_ns[row] > 0 ? 1 : 0;
    }
    return 2 * blocked > recorded;
  }

  // The end of an operation on the clock of a rank that lacks it: as long after (or before) another
  // one as on a rank that has both.
  std::optional<TimeNs> EndOn(const MatchedGroup& group, std::size_t op, std::size_t member) const {
    const GroupOperations& own = RowsOf(group.members[member]);
    for (std::size_t away = 1; away < kFarthest; ++away) {
      for (const bool before : {true, false}) {
        if (before ? away > op : op + away >= group.operations) continue;
        const std::size_t other = before ? op - away : op + away;
        const std::uint32_t here = group.row(other, member);
        if (here == kNone) continue;
        for (std::size_t m = 0; m < group.members.size(); ++m) {
          const std::uint32_t wanted = group.row(op, m), known = group.row(other, m);
          if (wanted == kNone || known == kNone) continue;
          const GroupOperations& rows = RowsOf(group.members[m]);
          return own.end[here] + rows.end[wanted] - rows.end[known];
        }
      }
    }
    return std::nullopt;
  }

  void AddRank(const MatchedGroup& group, std::size_t op, std::size_t member) {
    const std::size_t r = group.members[member].summary;
    const std::optional<TimeNs> end = EndOn(group, op, member);
    if (!end) return;
    const std::vector<StepFacts>& steps = job_.ranks[r].steps;
    const auto step = std::partition_point(
        steps.begin(), steps.end(), [&](const StepFacts& one) { return one.time.end < *end; });
    if (step == steps.end() || step->time.start >= *end) return;
    const TimeNs idle = IdleOf(*step) - usual_idle_[r];
    if (idle > 0) found_[r].push_back({std::max(step->time.start, *end - idle), *end});
  }

  const Job& job_;
  std::vector<TimeNs> usual_idle_;  // per summary
  std::vector<Intervals> found_;
};

}  // namespace

std::vector<Intervals> FindMissingBlocks(const Job& job, const std::vector<MatchedGroup>& groups) {
  MissingFinder finder(job);
  for (const MatchedGroup& group : groups) finder.Add(group);
  return finder.Finish();
}

}  // namespace traceinject
