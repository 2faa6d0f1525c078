// SPDX-License-Identifier: Apache-2.0
// Last arrival and transfer of the operations of one communicator.
#pragma once

#include <vector>

#include "analyzer/ranks/causes/rank_waits.h"

namespace traceinject {

// All of OperationWaits but what is new of the lateness, and contention. O(records).
std::vector<OperationWaits> MeasureOperations(const Job& job, const MatchedGroup& group,
                                              const ClockAlignment& clocks);

}  // namespace traceinject
