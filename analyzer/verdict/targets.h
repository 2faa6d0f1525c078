// SPDX-License-Identifier: Apache-2.0
// What a training run should reach.
#pragma once

namespace traceinject {

// Of a step, anything running on the GPU: a device that is busy for more has nothing to wait for.
inline constexpr double kBusyTarget = 0.85;
// Communication time over compute time.
inline constexpr double kCommComputeTarget = 0.3;

}  // namespace traceinject
