// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// Fills in KernelFacts::shapes of the kernels that the summary has, over the regular steps: what
// ranks with like work are compared by. Where only a share of the launches has a stack, lines
// divide the time of all launches of a shape and thread. O(operations log shapes + samples).
void AddShapes(const DeviceAnalysis& found, RankSummary& to);

}  // namespace traceinject
