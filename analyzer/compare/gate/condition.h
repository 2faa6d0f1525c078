// SPDX-License-Identifier: Apache-2.0
// A condition on a run: "mfu >= 0.42", "verdict != dataloader".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/compare/figures.h"

namespace traceinject {

enum class Relation : std::uint8_t { kLess, kAtMost, kMore, kAtLeast, kEqual, kUnequal };

struct Condition {
  const Figure* figure = nullptr;  // null: the label of the verdict
  Relation relation = Relation::kEqual;
  double limit = 0;    // of the figure, in its unit
  std::string label;   // of the verdict
  std::string text;    // as written
  std::string origin;  // where: "--require", "budget.txt:3"

  bool holds(double value) const;
  bool holds(std::string_view verdict) const;
};

// "<=", ...
std::string_view RelationText(Relation relation);

// Names are those of Figures() and "verdict", labels those of kVerdictLabels; an error says which
// was likely meant.
Result<Condition> ParseCondition(std::string_view text, const std::string& origin);

// A file of conditions, one a line; # begins a comment. Errors name file and line.
Result<std::vector<Condition>> ReadBudget(const std::string& path);

// The figure of that name, or what was likely meant.
Result<const Figure*> FigureOrNearest(std::string_view name);

}  // namespace traceinject
