// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/found_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/metrics/nvtx_steps.h"
#include "analyzer/metrics/window.h"

namespace traceinject {

std::vector<FoundSteps> FindStepsOfDevices(const Rank& rank) {
  std::vector<FoundSteps> found;
  for (const Device& device : rank.devices) {
    const std::optional<Window> worked = DeviceWindow(device.ops, 0, {});
    if (!worked) continue;
    Steps steps = FindSteps(rank, device, LongestRecorded(rank, *worked).time);
    if (steps.source != StepSource::kWindow) found.push_back({device.ordinal, std::move(steps)});
  }
  return found;
}

bool HasProfilerSteps(const Rank& rank) {
  return std::any_of(rank.nvtx.text.begin(), rank.nvtx.text.end(), [&](std::uint32_t text) {
    return StepPrefix(rank.string(text)) == kProfilerStep;
  });
}

std::int64_t TrainingThreadId(const Rank& rank) {
  if (rank.step_marks.size() > 0) return rank.threads[rank.step_marks.thread.front()].tid;
  const bool knows_main =
      std::any_of(rank.threads.begin(), rank.threads.end(),
                  [&](const Thread& thread) { return thread.tid == rank.process.pid; });
  if (knows_main || rank.api.size() == 0) return rank.process.pid;
  return rank.threads[rank.api.thread.front()].tid;
}

std::vector<Argument> StepArguments(const Steps& steps, const Step& step) {
  std::vector<Argument> arguments = {
      Argument::Text("found by", StepSourceName(steps.source)),
      Argument::Real("confidence", steps.confidence),
  };
  if (step.warm_up) arguments.push_back(Argument::Text("unusual", "warm-up"));
  if (step.irregular) arguments.push_back(Argument::Text("unusual", "irregular"));
  return arguments;
}

}  // namespace traceinject
