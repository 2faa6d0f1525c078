// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// The reason of the gap in which a flight recorder's rows were dropped.
inline constexpr std::string_view kKeepLast = "keep_last";

// Of a flight recorder's file, makes what was kept the whole of the recording: its gap becomes
// Rank::kept_from, and what is left of before goes. What ended by then goes because it is not
// complete, and operations that ran then, one a stream, because nothing is known of what ran beside
// them. After SortRank and before JoinLaunches. O(n).
void LeaveKeptPart(Rank& rank);

// Likewise makes what ended after `from` the whole, if that is less. After LeaveKeptPart. O(n).
void LeaveLastPart(TimeNs from, Rank& rank);

// Of a process that was killed, sets Rank::last_stored_call: calls of the driver that may be part
// of one of the runtime (in older recordings launches as well) wait for a flush or two, and are
// stored after what they brought about. O(n).
void FindLastStoredCall(Rank& rank);

// Ranges that were open when a window ended end with it: what became of them later was not
// recorded. Before SortRank. O(n log gaps).
void EndRangesWithWindows(Rank& rank);

// Of another profiler's trace, which may begin in the middle of a program: what was launched before
// has operations, but no calls. Where that is so, sets kept_from and first_kept_call to the first
// launch that was recorded. After JoinLaunches. O(n).
void FindFirstLaunch(Rank& rank);

// Where there are planned gaps, sets Rank::calls_in_gaps: what was launched in one may run after
// it. O(n).
void FindCallsInGaps(Rank& rank);

}  // namespace traceinject
