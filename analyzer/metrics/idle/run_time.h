// SPDX-License-Identifier: Apache-2.0
// What the recorded time of a run went into, as one device saw it: start-up, training steps,
// evaluation, checkpoints, ends of epochs, shutdown.
//
//   start-up    until the first step, and steps of warm-up
//   training    regular steps; of the others as much as a median regular step
//   evaluation, checkpoint
//               what steps of these kinds (step_kinds.h) take more
//   epoch end   what other irregular steps take more in which an iteration over a data loader
//               begins: its workers start, and nothing is prefetched yet
//   other       what the remaining irregular steps take more, unless they recur and explain
//               themselves as training
//   shutdown    after the last step
//
// Units and convention: int64 nanoseconds, half-open intervals. The parts add up to the recorded
// time, without what a plan left unrecorded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/step_kinds.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

enum class TimeUse : std::uint8_t {
  kStartUp,
  kTraining,
  kEvaluation,
  kCheckpoint,
  kEpochEnd,
  kOther,
  kShutdown
};
inline constexpr std::size_t kTimeUses = static_cast<std::size_t>(TimeUse::kShutdown) + 1;

// "start-up", "training steps", ...
std::string_view TimeUseName(TimeUse use);

struct UsedTime {
  TimeNs ns = 0;
  std::int64_t steps = 0;  // in which some of it lies
  // Of uses between regular steps: idle time by cause beyond that of as many regular steps.
  std::array<TimeNs, kIdleCauses> idle_ns{};
};

struct RunTime {
  TimeNs recorded_ns = 0;
  std::array<UsedTime, kTimeUses> uses{};
  std::vector<TimeUse> of_steps;  // as Steps::steps; kTraining: all of it
  std::vector<TimeNs> extra_ns;   // of each step, what it takes more; 0: it is one of training

  const UsedTime& of(TimeUse use) const { return uses[static_cast<std::size_t>(use)]; }
  // Share of the recorded time in training steps.
  double goodput() const;
  // Between training steps, of these two together: start-up and shutdown apart.
  TimeNs between_ns() const;
  double between_share() const;
  // The one with most of the time between training steps.
  TimeUse largest_between() const;
};

// `recorded`: from when to when something was recorded. Steps of the whole window, or without a
// regular one, are no steps: all is other. O(steps + waits + workers).
RunTime DivideRunTime(const Rank& rank, const Steps& steps, const std::vector<StepKind>& kinds,
                      const GapCauses& causes, Interval recorded);

}  // namespace traceinject
