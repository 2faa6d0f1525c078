// SPDX-License-Identifier: Apache-2.0
// Communication kernels that found no room on their own GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct ContendedKernel {
  std::uint32_t row = 0;  // of GroupOperations
  TimeNs delay_ns = 0;
};

// By row. Kernels that began much later after their launch than is usual for the rank on this
// communicator, right behind none of its operations, in a step whose other work does not explain
// it. Where launches run far ahead of the GPU nothing is found. O(n).
std::vector<ContendedKernel> FindContention(const RankSummary& rank, const GroupOperations& group);

}  // namespace traceinject
