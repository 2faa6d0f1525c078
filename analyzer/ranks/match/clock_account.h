// SPDX-License-Identifier: Apache-2.0
// What was done to the clocks of a run, in sentences.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ranks/match/align_clocks.h"

namespace traceinject {

class ClockAccount {
 public:
  // The times of a rank were moved, by so much in the middle of its recording.
  void Add(const ClockFit& fit, TimeNs by);
  // A sentence on one that could not be.
  void AddNotAligned(std::string sentence);

  std::vector<std::string> Finish();

 private:
  int aligned_ = 0;
  double sigma_ns_ = 0;
  TimeNs furthest_ns_ = 0;
  std::vector<std::string> sentences_;
};

}  // namespace traceinject
