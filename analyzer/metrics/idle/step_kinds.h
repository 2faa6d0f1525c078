// SPDX-License-Identifier: Apache-2.0
// Why a step is unusually long or short, as far as its work and the recording tell.
//
//   checkpoint  the program was being saved for at least half of what the step took longer, or the
//               step fetched many times the usual bytes to the host and computed nothing more
//   evaluation  forward work without training: no backward pass and no optimizer, or a usual
//               amount of both after much more other work (a validation pass between two steps)
//   warm-up     at the beginning of the recording: far from the median before any regular step; or
//               among the first ten, with kernels that no regular step has (autotuning,
//               compilation) or with calls for memory that explain half of what it took longer
//   irregular   none of these
//
// Training is told by optimizer kernels, by kernels of backward passes as far as their names say
// so, and by the threads on which PyTorch runs backward passes. Where regular steps show none of
// these, no step is called evaluation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/run.h"

namespace traceinject {

enum class StepKind : std::uint8_t { kRegular, kWarmUp, kEvaluation, kCheckpoint, kIrregular };
inline constexpr StepKind kStepKinds[] = {StepKind::kRegular, StepKind::kWarmUp,
                                          StepKind::kEvaluation, StepKind::kCheckpoint,
                                          StepKind::kIrregular};

// "regular", "warm-up", "evaluation", "checkpoint", "irregular".
std::string_view StepKindName(StepKind kind);

// One for each step. A regular step stays so whatever it does. O(operations + calls + names), and
// nothing where all steps are regular.
std::vector<StepKind> KindsOfSteps(const Rank& rank, const Device& device, const Steps& steps);

// Fewer irregular steps are an accident.
inline constexpr std::size_t kRecurringSteps = 3;

// Whether irregular steps are the program's own, and count like regular ones: at least three, at a
// steady distance (with four workers every fourth step may wait for data), or in spells that come
// as often as every tenth step, or a quarter of all, or so long that they cost as much as a verdict
// counts. Fewer, and those of a slow spell, say more about the machine.
bool IrregularRecur(const std::vector<StepKind>& kinds, const Steps& steps);

// The steps that a verdict is of, unless it is about what happens now and then: the regular ones,
// and irregular ones that recur.
std::vector<bool> UsualSteps(const std::vector<StepKind>& kinds, const Steps& steps);

// Figures are of these steps from now on. `judged`: as steps.steps.
void JudgeSteps(const std::vector<bool>& judged, Steps& steps);

}  // namespace traceinject
