// SPDX-License-Identifier: Apache-2.0
// How much longer a GPU's work takes beside communication. A communication kernel holds a
// multiprocessor for each of its thread blocks, while it moves data as while it waits for other
// ranks, and competes for memory.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Of the time of compute kernels that run beside communication, the share that they would not take
// alone; 0 to 1. The larger of two estimates, as both are low:
//   of the multiprocessors, those that the communication kernels hold. A kernel with one block for
//     each multiprocessor loses more: one of its blocks waits for another to end;
//   by how much kernels of one name and size take longer beside communication than alone. Few run
//     in both ways where all of a backward pass has communication beside it.
// Seen on H200s: a fifth beside 24 blocks of 132, a sixth beside 4 (tests/gpu/results/ranks.md).
// O(n log n).
double LostBesideCommunication(const Rank& rank, const Device& device);

}  // namespace traceinject
