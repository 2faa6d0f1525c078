// SPDX-License-Identifier: Apache-2.0
// The verdict on a run, before it is written.
#pragma once

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/verdict/add_rank_findings.h"
#include "analyzer/verdict/decide.h"
#include "analyzer/verdict/fix_order.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// It points into what it was made of, and into itself.
struct Judgement {
  Judgement() = default;
  Judgement(Judgement&&) = default;
  Judgement& operator=(Judgement&&) = default;

  // Of several devices a late one, if that costs most of what ranks do to each other, else the one
  // with the least exposed communication: it waits least for others, so the others wait for it.
  const DeviceFigures* device = nullptr;  // null: there is no GPU work
  Savings savings;
  Decision decision;
  FixOrder fixes;
};

// `analysis` has causes. Stopped: parts are empty. O(scenarios * events log events).
Judgement JudgeRun(const RunAnalysis& analysis, const RankFindings& between);

}  // namespace traceinject
