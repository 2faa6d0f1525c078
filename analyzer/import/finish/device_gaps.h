// SPDX-License-Identifier: Apache-2.0
// What of a device is not recorded because of a gap of the recording (Rank::gaps).
//
// Work is recorded or not by when it is launched, and a GPU runs it when it comes to it. So where
// the host is ahead, what was launched before a gap is still recorded in it, and after a gap there
// is no record of what was launched in it. How long that goes on is not reported. It is over when
// the first recorded operation starts on the stream that does most, as work of a stream runs in
// order; and after as long as any operation of that stream that is recorded next took from its
// launch to its end: by then the host was no further ahead.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Adds them to GpuOps::unrecorded (not merged) and, of planned ones, sets GpuOps::planned_gaps.
// Rows sorted by start, with their links. O(n + gaps log n).
void FindDeviceGaps(const Rank& rank, GpuOps& ops);

}  // namespace traceinject
