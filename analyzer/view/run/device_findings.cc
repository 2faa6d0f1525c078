// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/device_findings.h"

#include <utility>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/steps/window.h"

namespace traceinject {

std::optional<DeviceFindings> ExamineDevice(const Rank& rank, const Device& device) {
  const std::optional<Window> window = DeviceWindow(device.ops, 0, {});
  if (!window) return std::nullopt;
  DeviceAnalysis analysis = FindStepsAndTimeline(rank, device, *window);
  DeviceFindings found;
  for (const IdlePiece& piece :
       ExplainIdle(rank, device, analysis.timeline, analysis.steps, window->time)) {
    found.idle.Add(piece.time.start, piece.time.end, piece.ended_by, InkOf(piece.cause));
  }
  found.steps = std::move(analysis.steps);
  return found;
}

LaneEvents StepEvents(const Steps& steps) {
  LaneEvents events;
  for (std::uint32_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    Ink ink = i % 2 == 0 ? Ink::kStep : Ink::kStepOdd;
    if (step.warm_up || step.irregular) ink = Ink::kStepUnusual;
    events.Add(step.time.start, step.time.end, i, ink);
  }
  return events;
}

Ink InkOf(IdleCause cause) {
  return static_cast<Ink>(static_cast<unsigned>(Ink::kIdle) + static_cast<unsigned>(cause));
}

IdleCause CauseOf(Ink ink) {
  return static_cast<IdleCause>(static_cast<unsigned>(ink) - static_cast<unsigned>(Ink::kIdle));
}

bool IsIdle(Ink ink) { return ink >= Ink::kIdle && ink <= InkOf(IdleCause::kUnknown); }

}  // namespace traceinject
