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

// The recordings that lie where they might have been meant, or are on their way there.
std::string NearbyRecordings(const std::vector<std::string>& paths);

// Whether the run holds any GPU operation.
bool HasGpuWork(const Run& run);

// What the recorder tells of a recording without GPU work: why it did not begin (health
// start.failed), with what to do, and what it lost; empty if nothing.
std::string EmptyRunReasons(const Run& run);

}  // namespace traceinject
