// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {

StepSplit DeviceAnalysis::SumOf(StepChooser chosen) const {
  StepSplit sum;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (chosen(steps.steps[i])) sum += causes.steps[i];
  }
  return sum;
}

DeviceAnalysis FindStepsAndTimeline(const Rank& rank, const Device& device, const Window& window) {
  DeviceAnalysis found;
  found.rank = &rank;
  found.device = &device;
  found.window = window;
  found.steps = FindSteps(rank, device, window.time);
  found.timeline = BuildHostTimeline(rank, device);
  return found;
}

}  // namespace traceinject
