// SPDX-License-Identifier: Apache-2.0
// Work of the host that belongs to certain calls: Python's way to them, and out of them. A fix that
// takes the calls away takes this too, which is all that it saves where the host limits the run.
//
// How much that is scales with the pace of the host: as long as several of its usual ways from one
// launch to the next. What is longer is something else that the program does there.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

class HostWork {
 public:
  // Both must outlive it. O(calls).
  HostWork(const Rank& rank, const HostTimeline& timeline);

  // From the call before each of these to its end. `calls`: rows of Rank::api, ascending. O(calls).
  Intervals OfCalls(const std::vector<std::uint32_t>& calls) const;
  // Around waits for the device: all before them; after them what is more than the usual way to the
  // next launch, as there would have been one without them. O(calls).
  Intervals OfWaits() const;

 private:
  template <typename OnGap>
  void WalkCalls(OnGap on_gap) const;
  Intervals OutsideOfSegments(Intervals found) const;

  const Rank& rank_;
  const HostTimeline& timeline_;
  TimeNs usual_gap_ns_ = 0;
};

}  // namespace traceinject
