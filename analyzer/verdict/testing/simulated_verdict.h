// SPDX-License-Identifier: Apache-2.0
// The report on a simulated training, for tests.
#pragma once

#include <utility>

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

inline proto::Verdict VerdictOn(const TrainingPlan& plan) { return ReportOn(plan).verdict(); }

}  // namespace traceinject
