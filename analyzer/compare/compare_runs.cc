// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/compare/cautions.h"
#include "analyzer/compare/compare_collectives.h"
#include "analyzer/compare/compare_kernels.h"
#include "analyzer/compare/figures.h"
#include "analyzer/compare/settings.h"
#include "analyzer/compare/statistics/mean_difference.h"
#include "analyzer/compare/step_parts.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

void DescribeRun(const ComparedRun& side, proto::ComparedRun& to) {
  const Report& report = side.report;
  for (const proto::Source& source : report.sources()) to.add_paths(source.path());
  to.set_device(side.device().label());
  to.set_gpu(side.device().name());
  to.set_processes(report.sources_size());
  to.set_devices(report.devices_size());
  const proto::Verdict& verdict = report.verdict();
  to.set_verdict(LabelOn(verdict));
  to.set_verdict_title(TitleOn(verdict));
  if (verdict.has_saved_ns()) to.set_saved_ns(verdict.saved_ns());
  if (verdict.has_confidence()) to.set_confidence(verdict.confidence());
  to.set_abstained(verdict.abstained());
  to.set_steps(static_cast<std::int64_t>(side.steps.size()));
  to.set_steps_source(side.device_steps().source());
  to.set_judged_text(side.device_steps().judged_text());
}

void CompareCauses(const Report& before, const Report& after, Comparison& to) {
  struct Saved {
    std::optional<std::int64_t> before, after;
    std::int64_t most() const { return std::max(before.value_or(0), after.value_or(0)); }
  };
  std::map<std::pair<std::string, std::string>, Saved> causes;
  for (const proto::Saving& saving : before.verdict().savings())
    causes[{saving.label(), saving.place()}].before = saving.saved_ns();
  for (const proto::Saving& saving : after.verdict().savings())
    causes[{saving.label(), saving.place()}].after = saving.saved_ns();
  std::vector<std::pair<std::pair<std::string, std::string>, Saved>> order(causes.begin(),
                                                                           causes.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.most() > b.second.most(); });
  for (const auto& [name, saved] : order) {
    proto::CauseChange& row = *to.add_causes();
    row.set_label(name.first);
    row.set_title(std::string(TitleOf(name.first)));
    row.set_place(name.second);
    if (saved.before) row.set_saved_before_ns(*saved.before);
    if (saved.after) row.set_saved_after_ns(*saved.after);
  }
}

void CompareLeftOut(const proto::DeviceSteps& before, const proto::DeviceSteps& after,
                    Comparison& to) {
  std::map<std::string, proto::LeftOutChange> kinds;
  for (const proto::LeftOutSteps& left : before.left_out()) {
    kinds[left.kind()].set_count_before(left.count());
    kinds[left.kind()].set_total_before_ns(left.total_ns());
  }
  for (const proto::LeftOutSteps& left : after.left_out()) {
    kinds[left.kind()].set_count_after(left.count());
    kinds[left.kind()].set_total_after_ns(left.total_ns());
  }
  for (auto& [kind, row] : kinds) {
    row.set_kind(kind);
    *to.add_left_out() = row;
  }
}

std::string Share(double share) { return fmt::format("{:.2g} %", 100 * share); }

std::string OutcomeOf(const proto::Change& step) {
  if (!step.has_low_ns()) return "unknown";
  if (!step.certain()) return "no difference";
  if (std::abs(step.change_share()) < kNegligibleShare) return "negligible";
  return step.change_ns() < 0 ? "faster" : "slower";
}

std::string Conclude(const Comparison& found) {
  if (!found.has_step_ns())
    return "Steps cannot be compared: they were not found in both runs, or are withheld. Use "
           "--step-regex to select the NVTX ranges that are steps.";
  const proto::Change& step = found.step_ns();
  const std::string times = fmt::format("a step takes {} after, {} before",
                                        FormatTime(step.after_ns()), FormatTime(step.before_ns()));
  if (!step.has_low_ns())
    return fmt::format("Too few steps to distinguish a change from noise: {}.", times);
  const double whole = static_cast<double>(std::max<std::int64_t>(1, step.before_ns()));
  if (found.outcome() == "no difference") {
    const double seen =
        static_cast<double>(std::max(std::abs(step.low_ns()), std::abs(step.high_ns()))) / whole;
    return fmt::format("No difference detected: {}. A change of more than {} would have been.",
                       times, Share(seen));
  }
  const std::string change =
      fmt::format("{} by {}, {} (95 % interval {} to {})", step.change_ns() < 0 ? "less" : "more",
                  FormatTime(std::abs(step.change_ns())), Share(std::abs(step.change_share())),
                  FormatTime(step.low_ns()), FormatTime(step.high_ns()));
  if (found.outcome() == "negligible")
    return fmt::format(
        "Marginal difference: {}: {}. Recordings of the same program may differ by that much.",
        times, change);
  return fmt::format("{}: {}: {}.", step.change_ns() < 0 ? "Faster" : "Slower", times, change);
}

}  // namespace

Comparison CompareRuns(ComparedRun& before, ComparedRun& after) {
  ChooseSameGpu(before, after);
  Comparison found;
  found.set_tool_version(after.report.tool_version());
  found.set_comparison_version(kComparisonVersion);
  DescribeRun(before, *found.mutable_before());
  DescribeRun(after, *found.mutable_after());
  CompareSteps(before, after, found);
  found.set_outcome(found.has_step_ns() ? OutcomeOf(found.step_ns()) : "unknown");
  found.set_conclusion((AreTheSame(before, after) ? "Both are the same recording. " : "") +
                       Conclude(found));
  AddCautions(before, after, found);
  CompareCauses(before.report, after.report, found);
  *found.mutable_kernels() = CompareKernels(before, after);
  CompareCollectives(before, after, found);
  CompareFigures(before, after, found);
  CompareSettings(before, after, found);
  CompareLeftOut(before.device_steps(), after.device_steps(), found);
  found.set_method(std::string(kDifferenceMethod));
  MakePrintable(found);
  return found;
}

}  // namespace traceinject
