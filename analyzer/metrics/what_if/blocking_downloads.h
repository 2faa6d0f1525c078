// SPDX-License-Identifier: Apache-2.0
// Copies to the host whose call returned once the data was there: tensor.cpu(), tensor.item().
//
// They cost the host the wait for all that the device still had to do, and the device the time of
// the copy, which into pageable memory is several times that of one into pinned memory.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct BlockingDownloads {
  std::vector<OpLength> lengths;  // of those that into pinned memory would take less time; by row
  std::vector<TimeNs> saved_ns;   // per step: what they would take less
};

// Without those of checkpoints, and without those into pinned memory already. `rate`: what copies
// into pinned memory reach, bytes per nanosecond. O(operations).
BlockingDownloads FindBlockingDownloads(const Rank& rank, const Device& device,
                                        const HostTimeline& timeline, const Steps& steps,
                                        double rate);

}  // namespace traceinject
