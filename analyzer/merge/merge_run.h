// SPDX-License-Identifier: Apache-2.0
// The recordings of a job in one file, to be shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/ranks/load/load_job.h"

namespace traceinject {

struct MergeOptions {
  std::string output;
  bool replace = false;      // a file of that name
  std::string tool_version;  // of the program that merges
  JobOptions reading;
};

struct Merged {
  std::size_t processes = 0;
  std::int64_t rows = 0, bytes = 0;
  std::vector<std::string> notes = {};  // what is left out, and what was done to clocks
};

// Writes options.output out of `paths` (merge_plan.h says which recordings count), which stay as
// they are. Either the whole file is there in the end, or none.
Result<Merged> MergeRun(const std::vector<std::string>& paths, const MergeOptions& options);

}  // namespace traceinject
