// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// Fills GpuOps::launch of all devices: the CUDA call with the operation's correlation id. Where
// several calls carry the id, one that launches (kernel, copy, memset, graph) is preferred, then
// the earliest. O(calls + operations) for the dense ids that CUPTI gives, O(calls log calls +
// operations log calls) for any others.
void JoinLaunches(Rank& rank);

}  // namespace traceinject
