// SPDX-License-Identifier: Apache-2.0
// Steps of the clock that all times of a recording come from (CLOCK_REALTIME: somebody set it, or a
// time service did), taken out again where that is certain.
//
// About once a second the recorder noted the same moment on this clock and on one that nobody sets.
// Their difference stays the same but for steps: both are slewed alike. After a step forwards by d
// there is, between the notes around it, a stretch of at least d in which nothing begins or ends:
// the step lay in the longest one, and all later times are moved back by d. After a step backwards
// times repeat, and which records were before it cannot be told for certain: it is only noted.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// The two clocks are read one after the other, in less than a microsecond unless the thread was
// interrupted, which passes: a step does not.
inline constexpr TimeNs kMinClockStepNs = 1'000'000;
// The last note has no later one to tell an interruption, which looks like a step backwards.
inline constexpr TimeNs kMinLastClockStepNs = 100'000'000;

// For readers, before SortRank. Steps go to Rank::trust, those that could not be taken out among
// them. O(n) for each step.
void RepairClockSteps(Rank& rank);

}  // namespace traceinject
