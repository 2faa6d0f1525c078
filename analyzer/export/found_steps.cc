// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/found_steps.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "analyzer/export/host_events.h"
#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {
namespace {

TimeNs LaunchOf(const Rank& rank, const GpuOps& ops, std::size_t row) {
  return ops.launch[row] == kNone ? ops.start[row] : rank.api.start[ops.launch[row]];
}

// How late each moment may be without a change to the steps on the GPU.
std::vector<TimeNs> LatestMoments(const Rank& rank, const Steps& steps,
                                  const std::vector<TimeNs>& moments) {
  std::vector<TimeNs> latest(moments.begin() + 1, moments.end());
  latest.push_back(kOpen);
  for (const Device& device : rank.devices) {
    for (std::size_t row = 0; row < device.ops.size(); ++row) {
      const TimeNs launched = LaunchOf(rank, device.ops, row);
      const auto after = std::upper_bound(moments.begin(), moments.end(), launched);
      if (after == moments.begin()) continue;
      TimeNs& limit = latest[static_cast<std::size_t>(after - moments.begin()) - 1];
      limit = std::min(limit, launched);
    }
  }
  // What ends with no operation ends at the moment itself. So does idle time before the first step
  // that is longer than the step.
  const TimeNs middle = steps.start_ns + (moments[1] - steps.start_ns) / 2;
  latest[0] = steps.before == kNone ? moments[0] : std::min(latest[0], middle);
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (steps.steps[i].last_op == kNone) latest[i + 1] = moments[i + 1];
  }
  return latest;
}

}  // namespace

std::vector<FoundSteps> FindStepsOfDevices(const Rank& rank) {
  std::vector<FoundSteps> found;
  for (const Device& device : rank.devices) {
    const std::optional<Window> worked = DeviceWindow(device.ops, 0, {});
    if (!worked) continue;
    Steps steps = FindSteps(rank, device, ReportedPart(device.ops, *worked).time);
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

std::vector<TimeNs> MomentsOnHost(const Rank& rank, const Steps& steps) {
  std::vector<TimeNs> moments;
  for (const Step& step : steps.steps) moments.push_back(step.host.start);
  moments.push_back(steps.steps.back().host.end);

  const std::vector<TimeNs> latest = LatestMoments(rank, steps, moments);
  const std::int64_t tid = TrainingThreadId(rank);
  HostEvents events(rank);
  for (HostEvent event; events.Next(event);) {
    if (rank.threads[event.thread].tid != tid) continue;
    // The last moment that may lie inside of it.
    const auto after = std::lower_bound(moments.begin(), moments.end(), event.end);
    if (after == moments.begin()) continue;
    const auto moment = std::prev(after);
    if (event.start < *moment &&
        event.end <= latest[static_cast<std::size_t>(moment - moments.begin())])
      *moment = event.end;
  }
  return moments;
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
