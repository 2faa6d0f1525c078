// SPDX-License-Identifier: Apache-2.0
// What to change for each label.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/model/run.h"
#include "analyzer/verdict/lever_values.h"

namespace traceinject {

// How what a try saves relates to the saving that the label foretells.
enum class TryReach {
  kPart,    // no more than that
  kAll,     // that: it takes the cause away
  kBeyond,  // it changes what has other causes, too
};

struct LeverRow {
  std::string_view label;
  std::string_view setting;
  std::string_view change;  // what to do, and why it helps
  std::string_view source;  // where that is written
  // Whether the program has it already, as far as the recording tells; null: it never tells.
  bool (*is_set)(const Rank& rank) = nullptr;
  // What this run has of it; null: nothing that is recorded. Where it is set it is no lever.
  LeverFacts (*facts)(const LeverContext& context) = nullptr;
  // What `analyze try` measures it with (schemas/try_levers.h); empty: it cannot be applied from
  // outside. Where it ends with "=", what the facts suggest for that name follows.
  std::string_view try_with = {};
  TryReach try_reach = TryReach::kPart;
};

// In the order to try them, without those that the program has set already; empty for labels
// without any. O(rows x loaders).
std::vector<LeverRow> LeversOf(std::string_view label, const Rank& rank);

// Of what was tried, "num_workers=4". kPart: it is no lever of the label.
TryReach ReachOfTry(std::string_view label, std::string_view tried);

}  // namespace traceinject
