// SPDX-License-Identifier: Apache-2.0
// Which line of the program the threads that feed a device were seen at, in times of one's choice.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

class SeenCode {
 public:
  // `threads`: which ones, per thread of the rank. Both must outlive it. O(samples).
  SeenCode(const Rank& rank, const std::vector<bool>& threads);

  bool empty() const { return rank_.stack_samples.size() == 0; }
  // The line of the program's own code with most of the looks in these times, beyond `weight` times
  // those in the others; kNone: none was seen. O(looks).
  std::uint32_t MostIn(const Intervals& times, const Intervals& others = {},
                       double weight = 0) const;
  // Share of the looks that found Python importing a module. O(looks).
  double ImportingShare(Interval time) const;

 private:
  std::vector<double> Tally(const Intervals& times) const;
  bool Imports(std::uint32_t stack) const;

  const Rank& rank_;
  std::vector<LookRuns> runs_;  // of the chosen threads
  CodeSites sites_;
};

}  // namespace traceinject
