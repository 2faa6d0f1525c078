// SPDX-License-Identifier: Apache-2.0
// The report on an analysis, for tests that bring the findings between ranks.
#pragma once

#include "analyzer/verdict/judge_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {

inline Report JudgeAndWrite(RunAnalysis& analysis, const RankFindings& between) {
  return WriteReport(analysis, JudgeRun(analysis, between), between);
}

}  // namespace traceinject
