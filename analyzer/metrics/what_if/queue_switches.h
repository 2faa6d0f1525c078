// SPDX-License-Identifier: Apache-2.0
// Pauses of the device from one operation to the next that was queued: what a CUDA graph shortens.
#pragma once

#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Per step, what its pauses of at most kLongestSwitchNs take longer than those inside a CUDA graph
// (kGraphSwitchNs), where the operation after them had been launched before. O(operations).
std::vector<TimeNs> SwitchesOverGraph(const Rank& rank, const Device& device, const Steps& steps);

}  // namespace traceinject
