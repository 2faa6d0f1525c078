// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

// Fills what the verdict says of utilization once its cause is gone: the same work in a step of
// Verdict.new_step_ns. Above the peak nothing is said, as elsewhere.
void AddNewUtilization(Report& report);

}  // namespace traceinject
