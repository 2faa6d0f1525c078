// SPDX-License-Identifier: Apache-2.0
// What recording adds to a step, from blocks of steps that were alternately recorded and not
// recorded (TRACEINJECT_AB; any windows that alternate will do). Steps are those that the program
// marked, which are told at any time.
//
// What stays while nothing is recorded (the library in the process, CUPTI with all kinds disabled)
// is in both and does not show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

struct AbSteps {
  std::int64_t blocks = 0;  // unrecorded ones between two recorded ones
  std::int64_t recorded_steps = 0, unrecorded_steps = 0;
  double recorded_ns = 0, unrecorded_ns = 0;     // mean steps
  double added_ns = 0, low_ns = 0, high_ns = 0;  // with the 95 % interval
};

// Empty: too few blocks. A block holds at least so many steps without its first and its last, in
// which recording is turned on or off.
inline constexpr std::size_t kMinBlocks = 3, kMinBlockSteps = 3;

// O(steps + gaps).
std::optional<AbSteps> CompareSteps(const Rank& rank);

// The factor of the standard error for 95 %, of Student's distribution. `freedom` >= 1.
double StudentFactor(std::size_t freedom);

}  // namespace traceinject
