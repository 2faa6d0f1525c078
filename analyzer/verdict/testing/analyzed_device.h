// SPDX-License-Identifier: Apache-2.0
// For tests: the analysis of the first device of a process, over any time.
#pragma once

#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {

inline DeviceAnalysis AnalyzedDevice(const Rank& rank, Interval time) {
  const Device& device = rank.devices[0];
  DeviceAnalysis found = FindStepsAndTimeline(rank, device, {time});
  found.kinds = KindsOfSteps(rank, device, found.steps);
  found.causes = SplitSteps(rank, device, found.timeline, found.steps);
  return found;
}

}  // namespace traceinject
