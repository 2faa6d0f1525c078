// SPDX-License-Identifier: Apache-2.0
// What recording adds to the host's time at each call that launches something.
//
// CUPTI does most of it, within the launch and around it, and it takes as much longer on a slow
// host as the launch itself does: the same program on the same machine, a minute later, may launch
// half as fast (tests/gpu/RESULTS.md). So it is a share of what launches take in this recording.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

struct RecorderCost {
  double launch_ns = 0, low_ns = 0, high_ns = 0;  // with the 95 % interval
  double resident_ns = 0;                         // of that, what stays while nothing is recorded
  // False: no call that launches was recorded, and what is added to those is not known.
  bool known = true;
};

// Of the lower quartile of the launches' own lengths: those that are longer have waited for room in
// the queue, or for the processor. Calls take a third longer; what steps of processes that are
// recorded take longer than those of others is 0.6 to 0.9 of it a launch
// (tests/gpu/cost/recording_cost.sh). Of that the least, with which predictions come out best
// (tests/gpu/results/verdicts.md). Recording that is turned on and off in one process tells less:
// the interval holds all programs and machines measured so far.
inline constexpr double kRecordedShare = 0.6, kMinRecordedShare = 0.2, kMaxRecordedShare = 0.9;
// Of the same: what CUPTI costs in a process that once recorded, and at most
// (tests/gpu/cost/recording_cost.sh, "stopped"; without our library:
// tests/gpu/cupti/cupti_residue.cc).
inline constexpr double kResidentShare = 0.4, kMaxResidentShare = 0.6;
// Where there are too few launches to tell what they take; and as little and as much as that is on
// fast and slow hosts.
inline constexpr TimeNs kUsualLaunchNs = 6'000, kFastLaunchNs = 2'000, kSlowLaunchNs = 20'000;
inline constexpr std::size_t kMinLaunches = 100;

// All 0 of a recording by another tool, whose costs are its own. O(calls).
RecorderCost RecorderCostOf(const Rank& rank);

}  // namespace traceinject
