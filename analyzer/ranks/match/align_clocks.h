// SPDX-License-Identifier: Apache-2.0
// Whose clock shows what: the clocks of all ranks of a job on one, found from operations that no
// rank can leave before all have entered, which end on all of them at once.
//
// Each communicator gives the clocks of its members against each other: a robust line (offset and
// drift) through the differences of their ends. Ranks are joined to a reference rank through the
// communicators they share, along the way of least uncertainty, which adds up. Ranks of one host
// share a clock: what each found for itself must agree, and is pooled.
//
// Units: int64 nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/ranks/match/match_ranks.h"

namespace traceinject {

// From the clock of a rank to that of the job, which is the reference rank's.
struct ClockFit {
  bool aligned = false;
  double offset_ns = 0;        // job - own, at the reference time
  double drift = 0;            // by how much this grows per nanosecond
  TimeNs reference = 0;        // on its own clock
  double sigma_ns = 0;         // of what ToJob gives, inside of the operations used
  Interval used{0, 0};         // on its own clock, from the first to the last operation used
  std::size_t operations = 0;  // used on the way from the reference rank: the fewest
  std::string reason;          // why it is not aligned, or how sure that is; empty: nothing to say
};

TimeNs ToJob(const ClockFit& fit, TimeNs own);

struct ClockAlignment {
  std::vector<ClockFit> ranks;     // as Job::ranks
  std::size_t reference = 0;       // index of the rank whose clock counts
  std::size_t operations = 0;      // that could be checked: no rank may end before the last began
  std::size_t impossible = 0;      // of these, by more than kMaxViolationNs
  std::vector<std::string> notes;  // in sentences
};

// An operation that ended before all had entered by more than this was matched wrongly, or ranks
// can leave it early.
inline constexpr TimeNs kMaxViolationNs = 50'000;

// O(matched operations x members).
ClockAlignment AlignClocks(const Job& job, const RankMatches& matches);

}  // namespace traceinject
