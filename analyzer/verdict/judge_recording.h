// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/build_report.h"

namespace traceinject {

// Where it was measured what recording adds to a step: says which part of the verdict rests on no
// more than that, if any does. The report has its verdict.
void JudgeRecording(Report& report);

}  // namespace traceinject
