// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/verdict/judge_run.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// Fills Report.verdict, and adds what it rests on to the findings of the devices, in a report that
// holds the figures of the same analysis. Without GPU work the verdict is inconclusive.
void WriteVerdict(const RunAnalysis& analysis, const Judgement& judgement,
                  const proto::Ranks& between, Report& report);

}  // namespace traceinject
