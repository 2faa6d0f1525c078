// SPDX-License-Identifier: Apache-2.0
// The finding that many kernels are small, of each device and of the run.
#pragma once

#include <vector>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Adds it to the findings of those devices of the report, and to those of the run, that have many
// in their regular steps. A device whose steps are not trusted gets none. O(n).
void AddSmallKernels(const RunAnalysis& analysis, Report& report);

}  // namespace traceinject
