// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Fills Collectives::plan, and CollectivePlans::launch: the call that launched the kernel of an
// operation is the first launch of a kernel inside the time that NCCL gives for it, on its thread,
// or, where NCCL gives none, the last one on the thread that NCCL told on. Rows must be sorted.
// O(calls + operations + plans log calls).
void JoinPlans(Rank& rank);

}  // namespace traceinject
