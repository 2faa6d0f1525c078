// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Where a thread stood when last it was looked at.
struct LastStack {
  std::uint32_t thread = kNone;  // of the rank
  std::uint32_t stack = kNone;
  TimeNs time = 0;
  bool at_stall = false;  // taken when the process was seen to stall
};

// Of the threads that lived to the end of the recording. The one that stands for the process comes
// first: its main thread, else the one that was seen most; the others by how often. O(samples).
std::vector<LastStack> LastStacks(const Rank& rank);

}  // namespace traceinject
