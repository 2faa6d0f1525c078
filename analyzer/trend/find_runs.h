// SPDX-License-Identifier: Apache-2.0
// The runs that lie in folders.
#pragma once

#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

struct FoundRun {
  std::string name;                // path, below the folder where only that was named
  std::vector<std::string> files;  // recordings or traces, at least one
};

// What is named is a run if it is a file or stands for files (ResolveRunPaths). Of a folder each
// recording that lies directly in it is a run, those of one job together (GroupRecordings), without
// recordings each trace; and so is each folder below it that holds any, as a whole. Hidden folders
// are left out. Each run once, by name. Error: a sentence if a path stands for nothing.
Result<std::vector<FoundRun>> FindRuns(const std::vector<std::string>& paths);

}  // namespace traceinject
