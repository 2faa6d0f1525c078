// SPDX-License-Identifier: Apache-2.0
// Kernels that ran at a clock that heat, power or a setting held down.
//
// A sample stands for the time until the next one (telemetry.h). Where it names a reason that
// counts, kernels that multiply matrices would take the sampled SM clock / the clock that counts as
// healthy under that reason of their time; others, which memory limits, whose clock is another,
// keep theirs. Healthy is the highest clock of the GPU for heat, hardware slowdowns and clocks that
// were set, and kPowerCapShare of it under the power cap: large products run every card of a data
// center into that (H200s here at 83 to 100 % of their highest clock), and nothing is wrong with
// it. Low clocks of idle times name no such reason.
#pragma once

#include "analyzer/metrics/what_if/kernel_savings.h"

namespace traceinject {

// Of the operations in the range. O(operations + samples).
KernelSaving FindClockSaving(const Device& device, OpRange range);

}  // namespace traceinject
