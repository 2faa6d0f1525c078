// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/text_gate.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/compare/figure_text.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/labels.h"

namespace traceinject {
namespace {

using proto::ConditionResult;
constexpr int kGreen = 32, kRed = 31;

const char* OutcomeText(const ConditionResult& one) {
  if (one.outcome() == ConditionResult::OUTCOME_PASSED) return "passed";
  return one.outcome() == ConditionResult::OUTCOME_FAILED ? "FAILED" : "unknown";
}

const char* ComparedBy(FigureNoise noise) {
  switch (noise) {
    case FigureNoise::kSteps:
    case FigureNoise::kStepTime:
      return "yes";
    case FigureNoise::kExact:
      return "yes, exactly";
    case FigureNoise::kUnknown:
      break;
  }
  return "no";
}

}  // namespace

void WriteGate(const proto::GateResult& result, TextPage& page) {
  page.Line(page.Colored(fmt::format("gate: {}, {}", result.passed() ? "passed" : "FAILED",
                                     Plural(result.conditions_size(), "condition")),
                         result.passed() ? kGreen : kRed));
  std::vector<std::vector<std::string>> rows = {{"", "condition", "value", "limit"}};
  for (const ConditionResult& one : result.conditions())
    rows.push_back({OutcomeText(one), one.condition(),
                    one.value().empty() ? kUnknownText : one.value(), one.limit()});
  page.Table(rows, 2, 3);
  for (const ConditionResult& one : result.conditions()) {
    if (one.outcome() == ConditionResult::OUTCOME_PASSED) continue;
    page.Sentence(fmt::format("{} ({}): {}", one.condition(), one.origin(), one.reason()), 0);
  }
  if (!result.cause().empty()) page.Sentence("cause: " + result.cause(), 0);
  for (const std::string& note : result.notes()) page.Sentence("caution: " + note, 0);
}

void WriteFigureList(TextPage& page) {
  std::vector<std::vector<std::string>> rows = {{"name", "unit", "better", "--compare", "what"}};
  for (const Figure& figure : Figures()) {
    rows.push_back({std::string(figure.name), std::string(UnitName(figure.unit)),
                    figure.better == Better::kLower ? "lower" : "higher", ComparedBy(figure.noise),
                    std::string(figure.help)});
  }
  rows.push_back({"verdict", "label", "", "no", "what limits the run, with == or !="});
  page.Table(rows, rows.size(), 0);
  page.Line("");
  page.Sentence(
      "step parts, time shares, clocks and power: over the compared steps, on the GPU the verdict "
      "is about");
  page.Line("");
  std::vector<std::vector<std::string>> labels = {{"verdict", "class", "title"}};
  for (const VerdictLabel& label : kVerdictLabelTable)
    labels.push_back({std::string(label.id), std::string(label.kind), std::string(label.title)});
  page.Table(labels, labels.size(), 0);
}

}  // namespace traceinject
