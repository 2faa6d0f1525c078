// SPDX-License-Identifier: Apache-2.0
// Puts samples of hardware counters on the clock of the operations.
//
// CUPTI's samples have times of the GPU's own clock, which may be set to anything and drifts. The
// recorder knows bounds: a sample cannot have begun before sampling did, nor have ended after it
// was read (CounterRun). Between them, activity tells: around idle gaps of the device, the sample
// in which activity begins or ends holds the beginning or end of a kernel; how much of it is active
// says where. The median of the differences is the shift, of blocks of edges that follow each other
// its drift (Theil-Sen), and their scatter how sure it is (CounterClock). Without such gaps the
// kernels that run tell by what they load (load_fit.h).
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Of all devices; operations sorted by start. Afterwards samples are sorted, their gaps are known,
// and CounterSamples::runs is empty. O(samples log samples + operations).
void AlignCounters(Rank& rank);

}  // namespace traceinject
