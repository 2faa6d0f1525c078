// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// For traces of other profilers, before FinishRank: what PyTorch's own ranges tell of data loaders
// and optimizer steps becomes data waits and step marks. O(ranges).
void FindLoadersAndSteps(Rank& rank);

}  // namespace traceinject
