// SPDX-License-Identifier: Apache-2.0
// Which operations a rank stood still for: the part of each, up to its end, in which it had nothing
// else to do.
//
// While a rank computes nothing it waits for the operation that ends last before it goes on; before
// that one had begun, for the one that ended last by then, and so on. What else was under way
// blocked nobody. Nor does a send where anything else may have: who sends goes on, as a rule.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/model/intervals.h"

namespace traceinject {

// An operation that ends so much after the rank went on was what it waited for all the same:
// monitors read their clocks on the host.
inline constexpr TimeNs kLateEndNs = 50'000;

struct TimelineTransfer {
  Interval time;
  bool is_send = false;
};

// How long each of `transfers` (by start) blocked the rank, up to its end; 0: not. `busy`: when it
// worked; `end`: when it was done. The end of one that ended late, by no more than kLateEndNs, is
// moved to where the rank went on. O(transfers x those under way at once).
std::vector<TimeNs> FindBlocked(const Intervals& busy, TimeNs end,
                                std::vector<TimelineTransfer>& transfers);

}  // namespace traceinject
