// SPDX-License-Identifier: Apache-2.0
// One device over the time that a report is about: its steps, what its host did, why it was idle.
// Made once, and handed to all that need it: figures, ranks, verdict, and message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/gpu/host_link.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/idle/step_kinds.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of which steps something is said.
using StepChooser = bool (*)(const Step&);
inline bool IsAfterWarmUp(const Step& step) { return !step.warm_up; }
inline bool IsRegular(const Step& step) { return step.regular(); }
inline bool IsJudged(const Step& step) { return step.judged; }

// It points into the run.
struct DeviceAnalysis {
  std::size_t rank_index = 0;  // in Run::ranks
  const Rank* rank = nullptr;
  const Device* device = nullptr;
  std::string label;  // in texts
  Window window;
  Steps steps;
  std::vector<StepKind> kinds;  // as steps.steps
  HostTimeline timeline;
  GapCauses causes;
  std::optional<HostLink> host_link;  // empty: not sampled

  StepSplit SumOf(StepChooser chosen) const;
};

// What is enough for some: the others are empty. O(events log events).
DeviceAnalysis FindStepsAndTimeline(const Rank& rank, const Device& device, const Window& window);

}  // namespace traceinject
