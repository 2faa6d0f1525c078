// SPDX-License-Identifier: Apache-2.0
// Where a thread stood in Python over time, as boxes: its line of the program's own code, and its
// whole stack.
//
// A look stands for the time to the middle between it and its neighbors; calls whose own stack was
// taken lie over that with their exact times. Times that follow each other with the same frames
// down to a depth are one box there, so that there are no more boxes than changes.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/lane.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Deeper frames are in no lane.
inline constexpr std::size_t kMaxFrameLanes = 24;

struct StackLanes {
  LaneEvents lines;                // source: index into Rank::places
  std::vector<LaneEvents> frames;  // by depth, the outermost first; source: index into Rank::stacks
  std::size_t deepest = 0;         // frames of the deepest stack
};

// Between two looks at a thread, as the recording tells it or as is usual; at most some seconds.
TimeNs UsualLookPeriod(const Rank& rank);

// By thread of the rank. O(samples x depth + calls).
std::vector<StackLanes> StackLanesOf(const Rank& rank);

}  // namespace traceinject
