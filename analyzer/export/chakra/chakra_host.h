// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/export/chakra/chakra_operations.h"
#include "analyzer/export/chakra/wait_targets.h"

namespace traceinject {

// Adds the nodes of threads that launched chosen operations: their calls, what they waited for, and
// the time between. Operations are made to depend on the calls that launched them.
void AddHostNodes(const Rank& rank, const ChakraOperations& operations, const WaitTargets& waits,
                  std::vector<ChakraNode>& nodes);

}  // namespace traceinject
