// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

// For what asks the tables of recordings: a recording as OpenRecording opens it, or the trace of
// another profiler as what ImportRun makes of it, one a process, in temporary files that disappear
// with them.
Result<std::vector<Database>> OpenAsRecordings(const std::string& path);

}  // namespace traceinject
