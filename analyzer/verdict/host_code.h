// SPDX-License-Identifier: Apache-2.0
// Host code that makes launches late, told apart from launching.
#pragma once

#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/verdict/code/code_evidence.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Gives the label host_code to what is saved
//   * of launching, where most of the time that launches are late lies in long stretches between
//     calls (kLongStretchNs), without the time in which the threads that launch had no processor:
//     it saves no more than these;
//   * of time in which nothing was recorded (host_wait),
// if the stacks that were seen meanwhile name few lines. Of the two only to the larger one.
// Time in which nothing was recorded, and that has no name then, is added to what is saved of
// launching where these threads had no processor for at least half as long: any line can be held up
// so. Without stacks and samples of threads nothing changes. O(causes + samples).
void NameHostCode(const DeviceFigures& judged, Savings& savings);

}  // namespace traceinject
