// SPDX-License-Identifier: Apache-2.0
// Where the files of a run lie that may still be recorded.
#pragma once

#include <string>
#include <vector>

#include "analyzer/import/open/spool_notes.h"

namespace traceinject {

struct LivePaths {
  std::vector<std::string> paths;    // for LoadRun
  std::vector<SpoolNote> elsewhere;  // of recordings whose spool is on another machine
};

// The paths as they were named, and recordings of that name that are still written in their spool
// (TRACEINJECT_SPOOL). Where nothing has come to its place, also those that never will.
LivePaths FindLivePaths(const std::vector<std::string>& paths);

}  // namespace traceinject
