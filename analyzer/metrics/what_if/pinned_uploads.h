// SPDX-License-Identifier: Apache-2.0
// Copies to the device from pinned memory: what is left of them when they run on a stream of their
// own, a step ahead of what reads them.
#pragma once

#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct HiddenUploads {
  std::vector<OpLength>
      lengths;  // by row, of those of at least a megabyte: no time is left of them
  // Of each step, what hiding them saves at most: the link still takes its time for them.
  std::vector<TimeNs> most_ns;
};
// O(operations).
HiddenUploads HidePinnedUploads(const Rank& rank, const Device& device, const Steps& steps);

// All copies to the device of at least a megabyte are from pinned memory, and there are some.
bool UploadsFromPinned(const Rank& rank);

}  // namespace traceinject
