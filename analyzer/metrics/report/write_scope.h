// SPDX-License-Identifier: Apache-2.0
// Which time figures are of, in words.
#pragma once

#include <string>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/metrics/steps/steps.h"

namespace traceinject {

// "24 of 30 steps: 12..35", "40 steps: 3..9, 11..43"; empty: no steps were found.
std::string JudgedText(const Steps& steps);

// Report.scope, as this GPU of the analysis has it.
void WriteScope(const RunAnalysis& analysis, const DeviceFigures& of, Report& report);

}  // namespace traceinject
