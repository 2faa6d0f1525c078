// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/rank_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "analyzer/ranks/causes/contention.h"
#include "analyzer/ranks/causes/exposed_wait.h"
#include "analyzer/ranks/causes/measure_operation.h"

namespace traceinject {
namespace {

const GroupOperations& OperationsOf(const Job& job, const GroupMember& member) {
  return job.ranks[member.summary].groups[member.group];
}

class Finder {
 public:
  Finder(const Job& job, const RankMatches& matches, const ClockAlignment& clocks)
      : job_(job), matches_(matches), clocks_(clocks), states_(job.ranks.size()) {
    for (const MatchedGroup& group : matches.groups)
      waits_.groups.push_back(MeasureOperations(job, group, clocks));
    for (const RankSummary& rank : job.ranks) {
      waits_.ranks.emplace_back().steps.resize(rank.steps.size());
      states_[waits_.ranks.size() - 1].together = TimesTogether(rank);
      alone_.push_back(TimesAlone(rank));
      auto& of_groups = contended_.emplace_back();
      for (const GroupOperations& group : rank.groups)
        of_groups.push_back(FindContention(rank, group));
    }
  }

  JobWaits Find() {
    for (const Place& place : InOrder()) {
      OperationWaits& waits = waits_.groups[place.group][place.operation];
      if (waits.last != kNone) Attribute(matches_.groups[place.group], place.operation, waits);
    }
    for (std::size_t g = 0; g < matches_.groups.size(); ++g) AddGroup(g);
    AddNotes();
    return std::move(waits_);
  }

 private:
  struct Place {
    TimeNs time = 0;
    std::uint32_t group = 0, operation = 0;
  };
  // A rank on its way through its operations; on its own clock.
  struct State {
    std::vector<TimeNs> together;  // when its GPU had waited for an operation; in order
    std::size_t next = 0;          // of these, near where it was looked for last
    TimeNs since = 0;              // the last of these
    TimeNs counted_ns = 0;         // of its lateness since
  };

  // Measured operations of all members, by the time when the last rank began them.
  std::vector<Place> InOrder() const {
    std::vector<Place> places;
    for (std::uint32_t g = 0; g < matches_.groups.size(); ++g) {
      const MatchedGroup& group = matches_.groups[g];
      for (std::uint32_t at = 0; at < group.operations; ++at) {
        const OperationWaits& waits = waits_.groups[g][at];
        if (!waits.measured || group.pair) continue;
        std::size_t member = 0;
        while (group.row(at, member) == kNone) ++member;
        const GroupMember& who = group.members[member];
        const TimeNs end = OperationsOf(job_, who).end[group.row(at, member)];
        places.push_back({ToJob(clocks_.ranks[who.summary], end) - waits.transfer_ns, g, at});
      }
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.time, a.group, a.operation) < std::tie(b.time, b.group, b.operation);
    });
    return places;
  }

  // The GPU waited for an operation if for most of it nothing else ran; and a step ends with
  // waiting for what is still under way.
  static std::vector<TimeNs> TimesTogether(const RankSummary& rank) {
    std::vector<TimeNs> times, last_of_step(rank.steps.size(), std::numeric_limits<TimeNs>::min());
    for (const GroupOperations& group : rank.groups) {
      for (std::size_t row = 0; row < group.count(); ++row) {
        const TimeNs end = group.end[row];
        if (2 * group.exposed_ns[row] >= end - group.start[row]) times.push_back(end);
        if (const std::uint32_t step = group.step[row]; step != kNone)
          last_of_step[step] = std::max(last_of_step[step], end);
      }
    }
    times.insert(times.end(), last_of_step.begin(), last_of_step.end());
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
  }
  // The last time before a start at which the rank was together with others; kOpen: none is known.
  static TimeNs TogetherBefore(State& state, TimeNs start) {
    const std::vector<TimeNs>& times = state.together;
    while (state.next < times.size() && times[state.next] <= start) ++state.next;
    while (state.next > 0 && times[state.next - 1] > start) --state.next;
    if (state.next == 0) return kOpen;
    const TimeNs time = times[state.next - 1];
    return time == std::numeric_limits<TimeNs>::min() ? kOpen : time;
  }

  void Attribute(const MatchedGroup& group, std::size_t at, OperationWaits& waits) {
    const std::size_t last = waits.last;
    std::vector<TimeNs> others;
    TimeNs own = kOpen;  // how long the last one worked since it was last together with others
    for (std::size_t member = 0; member < group.members.size(); ++member) {
      const std::uint32_t row = group.row(at, member);
      if (row == kNone) continue;
      State& state = states_[group.members[member].summary];
      const TimeNs start = OperationsOf(job_, group.members[member]).start[row];
      const TimeNs since = TogetherBefore(state, start);
      if (member != last) {
        if (since != kOpen) others.push_back(start - since);
        continue;
      }
      if (since != kOpen) own = start - since;
      if (since != state.since) state.counted_ns = 0;
      state.since = since;
    }
    State& state = states_[group.members[last].summary];
    TimeNs added = waits.late_ns;
    if (own != kOpen && !others.empty()) {
      const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
      std::nth_element(others.begin(), middle, others.end());
      added = own - *middle;
    }
    waits.new_late_ns = std::clamp<TimeNs>(added - state.counted_ns, 0, waits.late_ns);
    waits.contention_ns = std::min(waits.new_late_ns, Contention(group, at, last));
    state.counted_ns += waits.new_late_ns;
  }

  TimeNs Contention(const MatchedGroup& group, std::size_t at, std::size_t member) const {
    // Behind an operation whose record is missing it may have waited for that.
    if (at > 0 && group.row(at - 1, member) == kNone) return 0;
    const auto [summary, own] = group.members[member];
    const std::vector<ContendedKernel>& all = contended_[summary][own];
    const std::uint32_t row = group.row(at, member);
    const auto found = std::lower_bound(
        all.begin(), all.end(), row,
        [](const ContendedKernel& one, std::uint32_t wanted) { return one.row < wanted; });
    return found != all.end() && found->row == row ? found->delay_ns : 0;
  }

  void AddGroup(std::size_t g) {
    const MatchedGroup& group = matches_.groups[g];
    for (std::size_t at = 0; at < group.operations; ++at) {
      const OperationWaits& waits = waits_.groups[g][at];
      if (!waits.measured) continue;
      Count(waits, group.pair);
      for (std::size_t member = 0; member < group.members.size(); ++member)
        Add(group, at, member, waits);
    }
  }
  void Count(const OperationWaits& waits, bool pair) {
    ++waits_.operations;
    waits_.incomplete += waits.incomplete;
    if (pair || waits.after_last_ns == kOpen) return;
    ++waits_.compared;
    waits_.disagreeing += waits.disagrees;
  }
  void Add(const MatchedGroup& group, std::size_t at, std::size_t member,
           const OperationWaits& waits) {
    const std::uint32_t row = group.row(at, member);
    if (row == kNone) return;
    const GroupOperations& own = OperationsOf(job_, group.members[member]);
    const TimeNs wait = WaitOf(job_, clocks_, group, waits, at, member);
    const TimeNs length = own.end[row] - own.start[row];
    WaitSums sums;
    sums.operations = 1;
    sums.wait_ns = wait;
    sums.exposed_wait_ns = ExposedWait(own, row, wait, alone_[group.members[member].summary]);
    sums.transfer_ns = std::min(waits.transfer_ns, length);
    sums.exposed_transfer_ns = own.exposed_ns[row] - sums.exposed_wait_ns;
    if (group.pair) sums.pipeline_wait_ns = wait;
    sums.contention_ns = Contention(group, at, member);
    if (member == waits.last && !group.pair) {
      sums.last = 1;
      sums.late_ns = waits.late_ns;
      sums.caused_ns = waits.new_late_ns - waits.contention_ns;
    }
    RankWaits& rank = waits_.ranks[group.members[member].summary];
    rank.all += sums;
    if (own.step[row] != kNone) rank.steps[own.step[row]] += sums;
  }

  void AddNotes() {
    if (waits_.disagreeing > 0)
      waits_.notes.push_back(
          fmt::format("In {} of {} operations the aligned clocks and the kernel durations give "
                      "different transfer times; the durations are used.",
                      waits_.disagreeing, waits_.compared));
    if (waits_.incomplete > 0)
      waits_.notes.push_back(fmt::format(
          "{} of {} operations lack the record of a rank, which may have been the last to arrive.",
          waits_.incomplete, waits_.operations));
  }

  const Job& job_;
  const RankMatches& matches_;
  const ClockAlignment& clocks_;
  std::vector<State> states_;                                         // per rank
  std::vector<std::vector<std::vector<ContendedKernel>>> contended_;  // per rank and group
  std::vector<Intervals> alone_;                                      // per rank
  JobWaits waits_;
};

}  // namespace

WaitSums& WaitSums::operator+=(const WaitSums& other) {
  operations += other.operations;
  last += other.last;
  wait_ns += other.wait_ns;
  exposed_wait_ns += other.exposed_wait_ns;
  transfer_ns += other.transfer_ns;
  exposed_transfer_ns += other.exposed_transfer_ns;
  pipeline_wait_ns += other.pipeline_wait_ns;
  late_ns += other.late_ns;
  caused_ns += other.caused_ns;
  contention_ns += other.contention_ns;
  return *this;
}

JobWaits FindWaits(const Job& job, const RankMatches& matches, const ClockAlignment& clocks) {
  return Finder(job, matches, clocks).Find();
}

TimeNs WaitOf(const Job& job, const ClockAlignment& clocks, const MatchedGroup& group,
              const OperationWaits& waits, std::size_t operation, std::size_t member) {
  const std::uint32_t row = group.row(operation, member);
  if (row == kNone || !waits.measured) return 0;
  const GroupMember& who = group.members[member];
  const GroupOperations& own = OperationsOf(job, who);
  const ClockFit& fit = clocks.ranks[who.summary];
  if (waits.by_length)
    return std::max<TimeNs>(own.end[row] - own.start[row] - waits.transfer_ns, 0);
  // On one clock: over a long wait even the drift of a clock is more than a transfer may take.
  const TimeNs start = ToJob(fit, own.start[row]), end = ToJob(fit, own.end[row]);
  // A Send that ended before its Recv began did not wait.
  if (group.pair && waits.last_start >= end) return 0;
  return std::clamp<TimeNs>(waits.last_start - start, 0, end - start);
}

}  // namespace traceinject
