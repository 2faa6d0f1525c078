// SPDX-License-Identifier: Apache-2.0
// How much of the steps a device works, or could not begin sooner: what no cause outside of it
// takes.
#pragma once

#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

struct WorkingShares {
  double kernels = 0;     // computing or communicating
  double own_copies = 0;  // copies within its memory and memsets, while no kernel ran
  double pauses = 0;      // between operations that were queued long before: its own change

  double sum() const { return kernels + own_copies + pauses; }
};

// Of the steps but warm-up. O(operations).
WorkingShares WorkingSharesOf(const DeviceAnalysis& judged);

}  // namespace traceinject
