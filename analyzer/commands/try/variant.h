// SPDX-License-Identifier: Apache-2.0
// What `analyze try` ran of the program as it is, or with one lever, and what that comes to.
#pragma once

#include <string>
#include <vector>

#include "analyzer/tries/tried_run.h"
#include "schemas/tries.pb.h"

namespace traceinject {

struct Variant {
  std::string tried;  // empty: as it is
  std::vector<TriedRun> runs;
  bool ended = false;  // no more runs of it
};

proto::TriedRuns Summary(const Variant& variant);

// What the lever saved and whether losses stayed; nothing where it was not measured.
void Conclude(const Variant& as_is, const Variant& with, proto::TriedFix& fix);

}  // namespace traceinject
