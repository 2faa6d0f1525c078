// SPDX-License-Identifier: Apache-2.0
// Traces of other profilers as recordings of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/ranks/load/load_job.h"

namespace traceinject {

struct ImportOptions {
  std::string output;        // the name; several processes get files named after it
  bool replace = false;      // files of these names
  std::string tool_version;  // of the program that imports
  JobOptions reading;
};

struct Imported {
  std::vector<std::string> files;  // that were written, in the order of the traces
  std::int64_t bytes = 0;
  std::vector<std::string> notes = {};  // what was left out
};

// The names of the files of processes with these ranks, negative where there is none: `output` for
// one alone, else as they are recorded, run.rank00003.db. Those without a rank of their own get the
// ranks that are left, in their order.
std::vector<std::string> NamesByRank(const std::string& output, const std::vector<int>& ranks);

// The traces that `paths` stand for: of a folder those in it, whatever recordings lie beside them.
// Error: there is none.
Result<std::vector<std::string>> ResolveTraces(const std::vector<std::string>& paths);

// Reads the traces and writes a run.db for each process in them. Either all files are there in the
// end, or none. Error: one cannot be read, or is a recording already; a name is taken.
Result<Imported> ImportRun(const std::vector<std::string>& paths, const ImportOptions& options);

}  // namespace traceinject
