// SPDX-License-Identifier: Apache-2.0
// A GPU's own time: wall time without that in which it only waited for communication, its own
// transfers or other ranks. What a rank would take alone.
//
// It waits for an operation that runs alone until its end: the work that hid it had run out, and
// what follows needs the result. An operation that other work outlasts blocks nobody, although it
// may have run alone for a while: then another operation did that ended first.
#pragma once

#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

class OwnTime {
 public:
  // `also`: when it was blocked by what it has no records of (missing_records.h).
  // O(operations log operations).
  explicit OwnTime(const RankSummary& summary, const Intervals& also = {});

  // Own time from time 0 on, at a moment of the rank's clock; never decreases. O(log n).
  TimeNs At(TimeNs wall) const;
  TimeNs Between(Interval wall) const { return At(wall.end) - At(wall.start); }
  const Intervals& blocked() const { return blocked_; }

 private:
  Intervals blocked_;
  std::vector<TimeNs> before_;  // blocked before each of them
};

}  // namespace traceinject
