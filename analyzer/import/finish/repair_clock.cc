// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/repair_clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "analyzer/model/map_times.h"

namespace traceinject {
namespace {

// Calls visit(start, end) for every table of events; `end` is `start` itself where events are
// moments.
template <typename Visit>
void ForEachTable(Rank& rank, Visit visit) {
  const auto moments = [&](std::vector<TimeNs>& time) { visit(time, time); };
  for (Device& device : rank.devices) {
    visit(device.ops.start, device.ops.end);
    moments(device.samples.time);
    moments(device.slow_samples.time);
    moments(device.allocator.time);
    visit(device.counters.start, device.counters.end);
  }
  visit(rank.api.start, rank.api.end);
  visit(rank.syncs.start, rank.syncs.end);
  visit(rank.nvtx.start, rank.nvtx.end);
  visit(rank.collectives.start, rank.collectives.end);
  visit(rank.gemms.start, rank.gemms.end);
  visit(rank.attentions.start, rank.attentions.end);
  visit(rank.data_waits.start, rank.data_waits.end);
  visit(rank.host_spans.start, rank.host_spans.end);
  visit(rank.plans.launch_start, rank.plans.launch_end);
  moments(rank.plans.time);
  moments(rank.step_marks.time);
  moments(rank.memory.time);
  moments(rank.host_samples.time);
  moments(rank.worker_samples.time);
  moments(rank.stack_samples.time);
}

// The step lies between two notes.
struct Found {
  std::size_t row;  // of the note before it
  TimeNs from, to;  // those two, on the clock that was set
  TimeNs by;
};

class Repairer {
 public:
  Repairer(Rank& rank, const Found& step) : rank_(rank), step_(step) {}

  // Nothing is changed unless it is known where the step lay.
  bool Repair() {
    if (step_.by < 0) return false;
    std::vector<TimeNs> moments = {step_.from, step_.to};
    ForEachTable(rank_, [&](const auto& start, const auto& end) {
      for (std::size_t row = 0; row < start.size(); ++row) {
        for (const TimeNs time : {start[row], end[row]}) {
          if (time > step_.from && time < step_.to) moments.push_back(time);
        }
      }
    });
    std::sort(moments.begin(), moments.end());
    std::size_t longest = 1;
    for (std::size_t i = 1; i < moments.size(); ++i) {
      if (moments[i] - moments[i - 1] > moments[longest] - moments[longest - 1]) longest = i;
    }
    if (moments[longest] - moments[longest - 1] < step_.by) return false;
    at_ = moments[longest - 1];
    ForEachTable(rank_, [&](auto& start, auto& end) {
      const auto moved = [&](TimeNs time) { return time > at_ ? time - step_.by : time; };
      MapColumn(start, moved);
      if (&start != &end) MapColumn(end, moved);
    });
    MoveRest(at_);
    return true;
  }
  TimeNs at() const { return at_; }

 private:
  // What lies far from any event, and the notes of the clocks themselves.
  void MoveRest(TimeNs after) {
    const auto move = [&](TimeNs& time) {
      if (time > after && time != kOpen) time -= step_.by;
    };
    for (std::size_t row = step_.row + 1; row < rank_.clocks.size(); ++row)
      rank_.clocks.realtime[row] -= step_.by;
    for (CaptureGap& gap : rank_.gaps) {
      move(gap.start);
      move(gap.end);
    }
    for (Worker& worker : rank_.workers) {
      move(worker.start);
      move(worker.end);
    }
    for (Communicator& communicator : rank_.communicators) {
      if (communicator.created != Communicator().created) move(communicator.created);
    }
    if (rank_.end != kOpen) rank_.end -= step_.by;
  }

  Rank& rank_;
  const Found step_;
  TimeNs at_ = 0;
};

TimeNs OffsetAt(const ClockPairs& clocks, std::size_t row) {
  return clocks.realtime[row] - clocks.monotonic[row];
}

// Between a row and the next. Interruptions only make a difference smaller.
TimeNs StepAfter(const ClockPairs& clocks, std::size_t row) {
  TimeNs before = OffsetAt(clocks, row), after = OffsetAt(clocks, row + 1);
  const TimeNs plain = after - before;
  const bool last = row + 2 == clocks.size();
  if (row > 0) before = std::max(before, OffsetAt(clocks, row - 1));
  if (!last) after = std::max(after, OffsetAt(clocks, row + 2));
  const TimeNs step = after - before;
  const TimeNs least = last && step < 0 ? kMinLastClockStepNs : kMinClockStepNs;
  if (std::abs(step) < least) return 0;
  // Else it lies before the row, or after the next.
  return (step > 0) == (plain > 0) && std::abs(plain) >= std::abs(step) / 2 ? step : 0;
}

}  // namespace

void RepairClockSteps(Rank& rank) {
  for (std::size_t row = 0; row + 1 < rank.clocks.size(); ++row) {
    const TimeNs step = StepAfter(rank.clocks, row);
    if (step == 0) continue;
    Repairer repairer(rank, {row, rank.clocks.realtime[row], rank.clocks.realtime[row + 1], step});
    const bool repaired = repairer.Repair();
    rank.trust.clock_steps.push_back(
        {repaired ? repairer.at() : rank.clocks.realtime[row], step, repaired});
    if (!repaired) return;  // what follows cannot be told apart from it
  }
}

}  // namespace traceinject
