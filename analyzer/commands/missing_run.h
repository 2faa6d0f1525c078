// SPDX-License-Identifier: Apache-2.0
// What to say when there is nothing to report on.
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Reasons for a recording that is missing or holds no GPU work, the most frequent first, each with
// what to do, and the recordings that lie where they might have been meant.
std::string MissingRunChecklist(const std::vector<std::string>& paths);

// Whether the run holds any GPU operation.
bool HasGpuWork(const Run& run);

// The reasons that the recorder left for not recording (health start.failed), each with what to do;
// empty if there is none.
std::string StartFailures(const Run& run);

}  // namespace traceinject
