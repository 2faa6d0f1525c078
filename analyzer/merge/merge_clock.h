// SPDX-License-Identifier: Apache-2.0
// From the times in a recording to those in the merged file.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/model/run.h"
#include "analyzer/ranks/match/align_clocks.h"

namespace traceinject {

struct MergeClock {
  // What is added to put a time on the base of the job (Job::base_ns), and from there on that of
  // the merged file.
  TimeNs to_job = 0, from_job = 0;
  std::optional<ClockFit> fit = {};  // empty: the clock of the recording is that of the job
  // Of the recording's own clock, as readers find them. They find them again in the merged file, so
  // that a time after a step moves by what the time without it would.
  std::vector<ClockStep> steps = {};

  // What is beyond any clock stays, for readers to find. O(steps).
  TimeNs Of(TimeNs time) const;
};

}  // namespace traceinject
