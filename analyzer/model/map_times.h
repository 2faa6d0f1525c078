// SPDX-License-Identifier: Apache-2.0
// The times that a rank holds, put on another clock.
#pragma once

#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Of a column; what is open stays so. O(n).
template <typename Map>
void MapColumn(std::vector<TimeNs>& times, Map map) {
  for (TimeNs& time : times) {
    if (time != kOpen) time = map(time);
  }
}
template <typename Map>
void MapColumn(TimeColumn& times, Map map) {
  times.Transform([&](TimeNs time) { return time == kOpen ? kOpen : map(time); });
}

// Of recorded events alone, and of the clock's own readings. What is open stays so. O(events).
template <typename Map>
void MapEventTimes(Rank& rank, Map map) {
  const auto column = [&](std::vector<TimeNs>& times) { MapColumn(times, map); };
  const auto both = [&](auto& columns) {
    MapColumn(columns.start, map);
    MapColumn(columns.end, map);
  };
  for (Device& device : rank.devices) {
    both(device.ops);
    column(device.samples.time);
    column(device.slow_samples.time);
    column(device.allocator.time);
    both(device.counters);
  }
  both(rank.api);
  both(rank.syncs);
  both(rank.nvtx);
  both(rank.profiled);
  both(rank.collectives);
  both(rank.gemms);
  both(rank.attentions);
  both(rank.data_waits);
  both(rank.host_spans);
  column(rank.memory.time);
  column(rank.step_marks.time);
  column(rank.plans.time);
  column(rank.plans.launch_start);
  column(rank.plans.launch_end);
  column(rank.host_samples.time);
  column(rank.worker_samples.time);
  column(rank.stack_samples.time);
  column(rank.clocks.realtime);
}

// All of them. `map`: from the rank's clock to another; never decreases, so that columns stay
// sorted. What is open or unknown stays so. O(events).
template <typename Map>
void MapTimes(Rank& rank, Map map) {
  const auto one = [&](TimeNs& time) {
    if (time != kOpen) time = map(time);
  };
  MapEventTimes(rank, map);
  for (Device& device : rank.devices) {
    for (auto* intervals :
         {&device.ops.unrecorded, &device.ops.planned_gaps, &device.counters.gaps}) {
      for (Interval& lost : *intervals) {
        one(lost.start);
        one(lost.end);
      }
    }
  }
  for (Worker& worker : rank.workers) {
    one(worker.start);
    one(worker.end);
  }
  for (CaptureGap& gap : rank.gaps) {
    one(gap.start);
    one(gap.end);
  }
  for (Communicator& communicator : rank.communicators) {
    if (communicator.created != Communicator().created) one(communicator.created);
  }
  for (ClockStep& step : rank.trust.clock_steps) one(step.at_ns);
  one(rank.start);
  one(rank.end);
  one(rank.read_until);
  if (rank.kept_from) one(*rank.kept_from);
}

}  // namespace traceinject
