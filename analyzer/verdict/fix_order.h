// SPDX-License-Identifier: Apache-2.0
// What to fix after what. The savings of a verdict take one cause away at a time (rem); once the
// first is gone, others may save more or less than they did.
//
// Fixes: with all before gone, each other cause is replayed without as well, and the one that then
// saves most comes next, until none is above the floor of the step that is left. Of what ranks do
// to each other no replay of one device knows: it saves what it did, and only one such cause is in
// the order, because several wait for the same time.
//
// Interactions: what a cause would save if it were the last one left (add). Causes that add up
// save as much first as last. Where the two differ by more than kInteracting of what all causes
// together cost, the order matters, and what one cause costs says little.
#pragma once

#include <string>
#include <vector>

#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

inline constexpr double kInteracting = 0.3;

struct Fix {
  const CauseSaving* cause = nullptr;
  double saved_ns = 0;  // of a mean step, with all before it gone
};

struct FixOrder {
  std::vector<Fix> fixes;                 // empty: nothing is worth it
  std::vector<std::string> interactions;  // in sentences
};

// `first`: the cause of the verdict; null: none is above the floor, and only interactions are
// looked for. The result points into `savings`. O(causes squared * n). Stopped: empty.
FixOrder FindFixOrder(const DeviceAnalysis& judged, const Savings& savings,
                      const CauseSaving* first, StopFlag stop = nullptr);

}  // namespace traceinject
