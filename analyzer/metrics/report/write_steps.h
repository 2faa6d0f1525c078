// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

// Fills Report.steps of a report that holds the figures of the same analysis, which has causes.
void WriteSteps(const RunAnalysis& analysis, Report& report);

}  // namespace traceinject
