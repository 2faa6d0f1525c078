// SPDX-License-Identifier: Apache-2.0
// Timelines of a job's operations (docs/formats.md): one JSON object an operation, of one rank or
// of many, as monitoring systems write them that know of no kernels.
#pragma once

#include <string>

#include "analyzer/common/result.h"
#include "analyzer/import/source/recorded_file.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// The summaries of all its ranks. Read as a stream: memory is some 40 bytes an operation, beside
// the result. Errors name the file, the line and the field. O(operations log operations).
Result<Job> ReadTimeline(const std::string& path, ReadProgress& progress);

}  // namespace traceinject
