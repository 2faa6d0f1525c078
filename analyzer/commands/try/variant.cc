// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/variant.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyzer/tries/losses.h"
#include "analyzer/tries/tried_savings.h"

namespace traceinject {
namespace {

std::vector<std::vector<double>> StepsOf(const Variant& variant) {
  std::vector<std::vector<double>> steps;
  for (const TriedRun& run : variant.runs) steps.push_back(run.steps_ns);
  return steps;
}

std::vector<std::vector<double>> LossesOf(const Variant& variant) {
  std::vector<std::vector<double>> losses;
  for (const TriedRun& run : variant.runs) losses.push_back(run.losses);
  return losses;
}

}  // namespace

proto::TriedRuns Summary(const Variant& variant) {
  proto::TriedRuns to;
  double sum_ns = 0;
  for (const TriedRun& run : variant.runs) {
    sum_ns += run.mean_ns();
    to.set_steps(to.steps() + static_cast<std::int64_t>(run.steps_ns.size()));
    if (run.peak_bytes) to.set_peak_bytes(std::max(to.peak_bytes(), *run.peak_bytes));
  }
  to.set_runs(static_cast<int>(variant.runs.size()));
  if (variant.runs.empty()) return to;
  to.set_step_ns(std::llround(sum_ns / static_cast<double>(variant.runs.size())));
  const proto::Verdict& verdict = variant.runs.front().report.verdict();
  to.set_verdict(verdict.label());
  to.set_verdict_title(verdict.title());
  return to;
}

void Conclude(const Variant& as_is, const Variant& with, proto::TriedFix& fix) {
  if (with.runs.empty()) return;
  const TriedSaving saving = SavingOf(StepsOf(as_is), StepsOf(with));
  fix.set_saved_ns(std::llround(saving.saved_ns));
  if (saving.interval) {
    fix.set_saved_low_ns(std::llround(saving.interval->low));
    fix.set_saved_high_ns(std::llround(saving.interval->high));
  }
  const LossComparison losses = CompareLosses(LossesOf(as_is), LossesOf(with));
  fix.set_losses(losses.outcome);
  fix.set_losses_text(losses.text);
}

}  // namespace traceinject
