// SPDX-License-Identifier: Apache-2.0
// The report on a simulated training, for tests.
#pragma once

#include <utility>

#include "analyzer/metrics/cost/recorder_cost.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {

inline Run RunOf(Rank rank) {
  Run run;
  run.ranks = {std::move(rank)};
  return run;
}

inline Report ReportOn(const TrainingPlan& plan) {
  return BuildReportWithVerdict(RunOf(SimulatedTraining(plan).rank()), {});
}

// The same program while it is recorded, which adds to each launch what it usually does.
inline TrainingPlan Recorded(TrainingPlan plan) {
  plan.recorder_ns = static_cast<TimeNs>(kRecordedShare * static_cast<double>(plan.call_ns));
  return plan;
}

inline proto::Verdict VerdictOn(const TrainingPlan& plan) { return ReportOn(plan).verdict(); }

}  // namespace traceinject
