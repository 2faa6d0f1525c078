// SPDX-License-Identifier: Apache-2.0
// Host code that makes launches late, told apart from launching.
#pragma once

#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/verdict/code/code_evidence.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Gives the label host_code to what is saved
//   * of launching, where most of the time that launches are late lies in long stretches between
//     calls (kLongStretchNs): it saves no more than these;
//   * of time in which nothing was recorded (host_wait),
// if the stacks that were seen meanwhile name few lines. Of the two only to the larger one.
// Without stacks nothing changes. O(causes).
void NameHostCode(const DeviceFigures& judged, Savings& savings);

}  // namespace traceinject
