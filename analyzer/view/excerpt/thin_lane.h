// SPDX-License-Identifier: Apache-2.0
// Events of a lane in a stretch of time, so few that they can be written into a page: what is too
// short to be seen is merged with its neighbors, and nothing is left out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/lane.h"

namespace traceinject {

// An event as it is, or several in a row.
struct ThinSpan {
  TimeNs start = 0, end = 0;
  TimeNs busy = 0;                           // the events' own time, to the nanosecond
  std::uint32_t count = 0;                   // events
  std::uint32_t event = kNone;               // the one, or the longest, the first of equals
  std::array<TimeNs, kCategories> mix = {};  // busy by category

  bool merged() const { return count > 1; }
};

// By time, without overlap. Events shorter than `cell_ns` that follow each other and start in the
// same cell are one span; cells are so long, the first one starts with `time`. All others, and
// those that reach beyond `time`, stay as they are. The spans' busy time inside of `time` adds up
// to that of the lane. O(log n + events inside).
std::vector<ThinSpan> ThinLane(const Lane& lane, Interval time, TimeNs cell_ns);

}  // namespace traceinject
