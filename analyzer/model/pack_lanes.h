// SPDX-License-Identifier: Apache-2.0
// Events that may overlap, put into lanes in which none do.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/lane.h"

namespace traceinject {

struct PackedLanes {
  std::vector<LaneEvents> lanes;
  std::size_t hidden = 0;  // events that did not fit into kMaxLanes: shown as a number
};

inline constexpr std::size_t kMaxLanes = 256;

// Every event goes into the first lane that is free when it starts. Of events that start together
// the longest comes first, so that ranges that nest stand one lane lower a level.
class LanePacker {
 public:
  // Events may overlap; they must come sorted by start. O(lanes).
  void Add(TimeNs start_ns, TimeNs end_ns, std::uint32_t source_row, Ink ink);
  // The lanes, once, after the last event.
  PackedLanes Take();

 private:
  struct Event {
    TimeNs start = 0, end = 0;
    std::uint32_t source = 0;
    Ink ink = Ink::kCallOther;
  };

  void PlaceWaiting();
  void Place(const Event& event);

  std::vector<Event> waiting_;  // with the same start
  PackedLanes packed_;
  std::vector<TimeNs> free_from_;  // per lane
};

// Times in which something goes on in the lanes, but not in the first: with the first, this is
// their union. For figures only: ink and source mean nothing. O(n log lanes).
LaneEvents BesideFirst(const PackedLanes& packed);

// Pieces of the operations such that every busy moment belongs to exactly one: compute before
// communication before copies, and among equals the one that started first. Their lengths add up to
// the partition of busy time into compute, exposed communication and exposed copies. `events` may
// overlap; they must be sorted by start. O(n), nothing in memory but the result.
LaneEvents FlattenByCategory(const LaneEvents& events);

}  // namespace traceinject
