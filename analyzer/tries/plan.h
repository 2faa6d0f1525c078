// SPDX-License-Identifier: Apache-2.0
// Which levers `analyze try` pulls: those of a verdict that can be applied from outside, or those
// that the user named.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "schemas/report.pb.h"
#include "schemas/tries.pb.h"

namespace traceinject {

struct TryChoice {
  std::string fixes =
      "auto";  // or levers as in TRACEINJECT_TRY, each of its own unless joined by +
  bool allow_numerics = false;
  std::size_t most = 4;  // of a verdict
};

struct TryPlan {
  std::vector<proto::TriedFix> fixes;  // what is known of them before they are tried
  std::vector<std::string> notes;      // what is left out, and why
};

// "auto": the levers of the verdict in its order, without those that may change numbers or the
// program's meaning, then the first two together. Otherwise, of the list "a=1,b=2+c=3", a alone,
// and b with c. Error: the list is none.
Result<TryPlan> PlanTries(const proto::Report& report, const TryChoice& choice);

// What may change besides time, in words; empty: nothing. `tried`: as in TRACEINJECT_TRY.
std::string EffectOf(const std::string& tried);

// How to keep what was tried: a line each lever.
std::string PermanentOf(const std::string& tried);

}  // namespace traceinject
