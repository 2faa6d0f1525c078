// SPDX-License-Identifier: Apache-2.0
// Where a thread stood at about a moment: for calls whose own stack was never taken, such as those
// that libraries make out of sight of our wrappers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

class NearStacks {
 public:
  // The nearest are so near, or so many.
  static constexpr TimeNs kNearNs = 3'000, kFarthestNs = 500'000;
  static constexpr std::size_t kLeast = 5;

  // O(samples log samples).
  NearStacks(const Rank& rank, std::uint32_t thread);

  // Of the calls those with a stack nearby, as that stack: all that are at most kNearNs from it,
  // else the kLeast nearest, none farther than kFarthestNs. O(calls log samples).
  std::vector<std::uint32_t> Of(const std::vector<Interval>& calls) const;

 private:
  struct Seen {
    TimeNs time;
    std::uint32_t stack;
  };

  std::vector<Seen> seen_;  // by time
};

}  // namespace traceinject
