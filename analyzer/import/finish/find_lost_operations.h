// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// A part of RepairOperations: finds calls that launched a kernel or a copy of which there is no
// record, and the times in which those may have run, between the operations that the same thread
// launched before and after. Not for programs that use CUDA graphs: what they capture is launched
// without running. Memsets are left out, as those of no bytes run nothing. O(n).
void FindLostOperations(Rank& rank);

}  // namespace traceinject
