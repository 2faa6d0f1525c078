// SPDX-License-Identifier: Apache-2.0
// The samples of stacks by thread. A look is one moment at which a thread was sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Looks that found the same stack one after the other. When the first and the last were is known;
// of those between them only that they were between, as looks follow no rhythm.
struct LookRun {
  TimeNs first = 0, last = 0;
  std::int64_t looks = 1;
  std::uint32_t stack = kNone;
};

using LookRuns = std::vector<LookRun>;  // by time

// By thread of the rank. O(samples).
std::vector<LookRuns> LooksOfThreads(const Rank& rank);

// How many of a run fall into a time, and how many looks tell that. All of them where all of the
// run lies in it; else the first and the last stand for half of the run each.
struct LooksIn {
  double looks = 0;
  std::int64_t known = 0;
};
LooksIn LooksInside(const LookRun& run, Interval time);

// All looks of a thread.
std::int64_t CountLooks(const LookRuns& runs);

// Hands the looks in times that come by start to a visitor. O(looks + times) where they are
// disjoint.
class LookSweep {
 public:
  explicit LookSweep(const LookRuns& runs) : runs_(&runs) {}

  // visit(run, LooksIn) for each run that has some.
  template <typename Visit>
  void ForEachRun(Interval time, Visit visit) {
    while (next_ < runs_->size() && (*runs_)[next_].last < time.start) ++next_;
    for (std::size_t i = next_; i < runs_->size() && (*runs_)[i].first < time.end; ++i) {
      const LooksIn looks = LooksInside((*runs_)[i], time);
      if (looks.known > 0) visit((*runs_)[i], looks);
    }
  }
  // visit(stack, LooksIn), likewise.
  template <typename Visit>
  void ForEach(Interval time, Visit visit) {
    ForEachRun(time, [&](const LookRun& run, const LooksIn& looks) { visit(run.stack, looks); });
  }

 private:
  const LookRuns* runs_;
  std::size_t next_ = 0;
};

}  // namespace traceinject
