// SPDX-License-Identifier: Apache-2.0
// What a saving has to be to count.
#pragma once

#include <algorithm>

namespace traceinject {

// From both on; of a short step a larger share is enough. Kernels that could not save the first
// share are not looked at further.
inline constexpr double kFloorShare = 0.05, kFloorNs = 1e6, kShortStepFloorShare = 0.2;

// kFloorShare of it, at least kFloorNs; kShortStepFloorShare where that is less.
inline double FloorOf(double step_ns) {
  return std::max(kFloorShare * step_ns, std::min(kFloorNs, kShortStepFloorShare * step_ns));
}

// Of the step: a cause that saves less is not worth a line.
inline constexpr double kShownShare = 0.005;

}  // namespace traceinject
