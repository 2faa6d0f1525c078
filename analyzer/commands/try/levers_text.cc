// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/levers_text.h"

#include <fmt/format.h>

#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/tries/plan.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

// "num_workers=N" with what may change, and since when it is there.
std::vector<std::string> RowOf(const TryLever& lever) {
  const std::string name(lever.name);
  const std::string effect = EffectOf(name + "=1");
  return {name, std::string(lever.values), std::string(lever.target), effect.empty() ? "-" : effect,
          std::string(lever.since)};
}

const std::vector<std::string>& Header() {
  static const std::vector<std::string> header = {"lever", "values", "what it changes",
                                                  "besides time", "since"};
  return header;
}

std::vector<std::vector<std::string>> Rows() {
  std::vector<std::vector<std::string>> rows = {Header()};
  for (const TryLever& lever : kTryLevers) rows.push_back(RowOf(lever));
  rows.push_back(
      {"env.NAME", "anything; empty: not set", "the environment variable NAME", "-", ""});
  return rows;
}

}  // namespace

std::string LeversText() { return FormatTable({{}, Rows()}); }

}  // namespace traceinject
