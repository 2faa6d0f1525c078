// SPDX-License-Identifier: Apache-2.0
// What the commands on the ranks of a job share, analyze-mpi included: which files, where the
// output goes, and what is said.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/ranks/load_job.h"
#include "analyzer/ranks/rank_summary.h"

namespace traceinject {

struct JobCommand {
  const char* program;  // "analyze combine"
  std::vector<std::string> paths = {};
  std::string output = "-";
  unsigned threads = 0;
  bool no_progress = false;
};

// The files, --threads and --no-progress. `what`: the files in words.
void AddJobOptions(CLI::App& app, JobCommand& command, const std::string& what);

// What to read with. `on_progress` keeps `bar`, if there is one.
class ProgressBar;
JobOptions ReadingOptions(const JobCommand& command, ProgressBar* bar);

// Writes what is to be said of the job; returns the exit code. An error is told on stderr, with
// what to look at where the paths stand for nothing. One text, whichever program read the files.
int WriteJobOrExplain(const JobCommand& command, const Result<Job>& job);

}  // namespace traceinject
