// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// A part of RepairOperations: gives operations whose duration cannot be the usual one of their
// shape, cut at the start of the next operation of their stream. Where nothing proves when they
// ended, the rest of what they claimed becomes unrecorded time. O(n).
void RepairDurations(Rank& rank, Device& device);

}  // namespace traceinject
