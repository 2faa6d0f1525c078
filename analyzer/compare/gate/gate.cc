// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compare/figure_text.h"
#include "analyzer/compare/gate/gate_reason.h"
#include "analyzer/compare/statistics/mean_difference.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

using proto::ConditionResult;

void Unknown(const std::string& reason, ConditionResult& to) {
  to.set_outcome(ConditionResult::OUTCOME_UNKNOWN);
  to.set_reason("it is unknown: " + reason);
}

void Fail(const std::string& reason, ConditionResult& to) {
  to.set_outcome(ConditionResult::OUTCOME_FAILED);
  to.set_reason(reason);
}

void JudgeVerdict(const Condition& condition, const ComparedRun& run, ConditionResult& to) {
  const proto::Verdict& verdict = run.report.verdict();
  to.set_value(LabelOn(verdict));
  to.set_limit(fmt::format("{} {}", RelationText(condition.relation), condition.label));
  if (condition.holds(std::string_view(verdict.label()))) return;
  Fail(fmt::format("it is {}", to.value()), to);
}

void JudgeFigure(const Condition& condition, const FigureValue& figure, ConditionResult& to) {
  const FigureUnit unit = condition.figure->unit;
  const std::string limit = FigureText(unit, condition.limit);
  to.set_limit(fmt::format("{} {}", RelationText(condition.relation), limit));
  if (!figure.value) return Unknown(figure.reason, to);
  to.set_value(FigureText(unit, *figure.value));
  if (condition.holds(*figure.value)) return;
  Fail(fmt::format("it is {}, not {} {}", to.value(), RelationText(condition.relation), limit), to);
}

// By how much the figure may be worse, in its unit.
double Allowed(const Figure& figure, const MeanDifference& difference, const Comparison& comparison,
               double tolerance) {
  if (figure.unit == FigureUnit::kShare) return tolerance;
  if (figure.unit == FigureUnit::kMs)
    return tolerance * static_cast<double>(comparison.step_ns().before_ns()) / 1e6;
  return tolerance * std::abs(difference.before);
}

// Whether noise is excluded.
bool Certain(const Figure& figure, const MeanDifference& difference, const Comparison& comparison) {
  if (figure.noise == FigureNoise::kSteps) return difference.certain();
  return figure.noise == FigureNoise::kExact || comparison.step_ns().certain();
}

std::string IntervalText(const Figure& figure, const MeanDifference& difference) {
  if (!difference.interval) return "";
  return fmt::format(" (95 % interval of the change {} to {})",
                     FigureText(figure.unit, difference.interval->low),
                     FigureText(figure.unit, difference.interval->high));
}

void CompareFigure(const Figure& figure, const ComparedRun& baseline, const ComparedRun& run,
                   const Comparison& comparison, double tolerance, ConditionResult& to) {
  const FigureValue was = figure.read(baseline), is = figure.read(run);
  if (is.value) to.set_value(FigureText(figure.unit, *is.value));
  if (was.value) to.set_limit("baseline " + FigureText(figure.unit, *was.value));
  if (!is.value) return Unknown(is.reason, to);
  if (!was.value) return Unknown("of the baseline " + was.reason, to);
  const MeanDifference difference = DifferenceOf(figure, baseline, run);
  const std::size_t fewest = std::min(baseline.steps.size(), run.steps.size());
  if (figure.noise != FigureNoise::kExact && fewest < kFewSteps)
    return Unknown(
        fmt::format("{} are too few to distinguish a change from noise; record {} or more",
                    Plural(static_cast<std::int64_t>(fewest), "step"), kFewSteps),
        to);
  const double worse = figure.better == Better::kLower ? difference.change() : -difference.change();
  if (worse <= Allowed(figure, difference, comparison, tolerance) ||
      !Certain(figure, difference, comparison))
    return;
  Fail(fmt::format("it is {}, {} in the baseline{}", to.value(),
                   FigureText(figure.unit, *was.value), IntervalText(figure, difference)),
       to);
}

void JudgeConditions(const ComparedRun& run, const std::vector<FigureValue>& figures,
                     const std::vector<Condition>& conditions, GateResult& to) {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Condition& condition = conditions[i];
    ConditionResult& result = *to.add_conditions();
    result.set_condition(condition.text);
    result.set_origin(condition.origin);
    if (condition.figure == nullptr)
      JudgeVerdict(condition, run, result);
    else
      JudgeFigure(condition, figures[i], result);
  }
}

bool Passes(const ConditionResult& result, bool allow_unknown) {
  if (result.outcome() == ConditionResult::OUTCOME_UNKNOWN) return allow_unknown;
  return result.outcome() == ConditionResult::OUTCOME_PASSED;
}

}  // namespace

std::string_view WhyNotCompared(const Figure& figure) {
  if (figure.noise != FigureNoise::kUnknown) return "";
  return "the variation of this figure is unknown, so a change cannot be distinguished from noise; "
         "set a limit with --require";
}

GateResult JudgeRun(ComparedRun& run, ComparedRun* baseline, const GateOptions& options) {
  GateResult result;
  result.set_tool_version(run.report.tool_version());
  // Of the run alone: a limit means the same with and without a baseline.
  std::vector<FigureValue> figures;
  for (const Condition& condition : options.conditions)
    figures.push_back(condition.figure == nullptr ? FigureValue() : condition.figure->read(run));
  Comparison comparison;
  if (baseline != nullptr) {
    comparison = CompareRuns(*baseline, run);
    *result.mutable_baseline_paths() = comparison.before().paths();
    *result.mutable_notes() = comparison.cautions();
  }
  result.set_comparison_version(kComparisonVersion);
  for (const proto::Source& source : run.report.sources()) result.add_paths(source.path());
  JudgeConditions(run, figures, options.conditions, result);
  for (const Figure* figure : options.compared) {
    if (baseline == nullptr) break;
    ConditionResult& one = *result.add_conditions();
    one.set_condition(
        fmt::format("{} within {:g} % of the baseline", figure->name, 100 * options.tolerance));
    one.set_origin("--baseline");
    CompareFigure(*figure, *baseline, run, comparison, options.tolerance, one);
  }
  result.set_passed(
      std::all_of(result.conditions().begin(), result.conditions().end(),
                  [&](const ConditionResult& one) { return Passes(one, options.allow_unknown); }));
  const bool failed = std::any_of(
      result.conditions().begin(), result.conditions().end(),
      [](const ConditionResult& one) { return one.outcome() == ConditionResult::OUTCOME_FAILED; });
  if (failed) result.set_cause(CauseSentence(run.report, comparison));
  MakePrintable(result);
  return result;
}

}  // namespace traceinject
