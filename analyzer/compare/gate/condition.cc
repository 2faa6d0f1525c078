// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/gate/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/compare/figure_text.h"
#include "analyzer/verdict/labels.h"

namespace traceinject {
namespace {

constexpr std::string_view kVerdict = "verdict";
constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kRelationLetters = "<>=!";

struct RelationRow {
  std::string_view text;
  Relation relation;
};
constexpr RelationRow kRelations[] = {
    {"<=", Relation::kAtMost},  {">=", Relation::kAtLeast}, {"==", Relation::kEqual},
    {"!=", Relation::kUnequal}, {"<", Relation::kLess},     {">", Relation::kMore},
};

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string Suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  const auto nearest = NearestWord(word, names);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "; see analyze gate --list";
}

std::vector<std::string_view> Names() {
  std::vector<std::string_view> names = {kVerdict};
  for (const Figure& figure : Figures()) names.push_back(figure.name);
  return names;
}

Status SetLabel(std::string_view value, Condition& to) {
  if (to.relation != Relation::kEqual && to.relation != Relation::kUnequal)
    return Error{"a verdict can only be compared with == or !="};
  if (std::find(std::begin(kVerdictLabels), std::end(kVerdictLabels), value) ==
      std::end(kVerdictLabels)) {
    return Error{
        fmt::format("unknown verdict '{}'{}", value,
                    Suggestion(value, {std::begin(kVerdictLabels), std::end(kVerdictLabels)}))};
  }
  to.label = value;
  return Done{};
}

Status SetLimit(std::string_view name, std::string_view value, Condition& to) {
  const auto figure = FigureOrNearest(name);
  if (!figure.ok()) return Error{figure.error()};
  to.figure = figure.value();
  const auto limit = ParseFigure(to.figure->unit, value);
  if (!limit.ok()) return Error{limit.error()};
  to.limit = limit.value();
  return Done{};
}

}  // namespace

bool Condition::holds(double value) const {
  switch (relation) {
    case Relation::kLess:
      return value < limit;
    case Relation::kAtMost:
      return value <= limit;
    case Relation::kMore:
      return value > limit;
    case Relation::kAtLeast:
      return value >= limit;
    case Relation::kEqual:
      return value == limit;
    case Relation::kUnequal:
      break;
  }
  return value != limit;
}

bool Condition::holds(std::string_view verdict) const {
  return (verdict == label) == (relation == Relation::kEqual);
}

std::string_view RelationText(Relation relation) {
  return std::find_if(std::begin(kRelations), std::end(kRelations),
                      [&](const RelationRow& row) { return row.relation == relation; })
      ->text;
}

Result<const Figure*> FigureOrNearest(std::string_view name) {
  const Figure* figure = FindFigure(name);
  if (figure != nullptr) return figure;
  return Error{fmt::format("unknown figure '{}'{}", name, Suggestion(name, Names()))};
}

Result<Condition> ParseCondition(std::string_view text, const std::string& origin) {
  const std::string whole = Printable(Trimmed(text));
  const std::string_view all = whole;
  const auto fail = [&](const std::string& why) {
    return Error{fmt::format("{}: '{}': {}", origin, whole, why)};
  };
  const std::size_t at = all.find_first_of(kRelationLetters);
  const std::string_view rest = at == std::string_view::npos ? "" : all.substr(at);
  const auto relation =
      std::find_if(std::begin(kRelations), std::end(kRelations),
                   [&](const RelationRow& row) { return rest.starts_with(row.text); });
  if (relation == std::end(kRelations))
    return fail("a condition is a figure, one of <= >= < > == !=, and a value, as in mfu >= 0.42");
  const std::string_view name = Trimmed(all.substr(0, at));
  const std::string_view value = Trimmed(rest.substr(relation->text.size()));
  Condition condition;
  condition.relation = relation->relation;
  condition.text = whole;
  condition.origin = origin;
  const Status set =
      name == kVerdict ? SetLabel(value, condition) : SetLimit(name, value, condition);
  if (!set.ok()) return fail(set.error());
  return condition;
}

Result<std::vector<Condition>> ReadBudget(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("{}: cannot read: {}", path, std::strerror(errno))};
  std::vector<Condition> conditions;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = Trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    auto condition = ParseCondition(text, fmt::format("{}:{}", path, number));
    if (!condition.ok()) return Error{condition.error()};
    conditions.push_back(std::move(condition).value());
  }
  if (file.bad() || !file.eof()) return Error{fmt::format("{}: cannot read", path)};
  if (conditions.empty())
    return Error{
        fmt::format("{}: contains no condition; write one per line, as in mfu >= 0.42", path)};
  return conditions;
}

}  // namespace traceinject
