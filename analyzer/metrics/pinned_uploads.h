// SPDX-License-Identifier: Apache-2.0
// Copies to the device from pinned memory: what is left of them when they run on a stream of their
// own, a step ahead of what reads them.
#pragma once

#include <vector>

#include "analyzer/metrics/replay.h"
#include "analyzer/metrics/steps.h"
#include "analyzer/model/run.h"

namespace traceinject {

// By row, of those of at least a megabyte. No time is left of them, as long as the link has the
// time for them: where all copies of a step (S long, U of it copies) take longer than the rest of
// it, they keep 2 U - S. O(operations).
std::vector<OpLength> HidePinnedUploads(const Rank& rank, const Device& device, const Steps& steps);

// All copies to the device of at least a megabyte are from pinned memory, and there are some.
bool UploadsFromPinned(const Rank& rank);

}  // namespace traceinject
