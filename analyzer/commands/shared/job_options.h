// SPDX-License-Identifier: Apache-2.0
// What the commands on the ranks of a job share, analyze-mpi included: which files, where the
// output goes, and what is said.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/commands/shared/run_options.h"
#include "analyzer/common/result.h"
#include "analyzer/ranks/load/load_job.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct JobCommand {
  const char* program;  // "analyze combine"
  std::vector<std::string> paths = {};
  std::string output = "-";
  unsigned threads = 0;
  bool no_progress = false;
  std::string format = "text";
  std::size_t rows = 32;  // of the table of ranks; 0: all
  // Never in color: what stands behind stdout is not known. mpirun gives its processes a terminal
  // whatever its own output goes to.
  bool plain = false;
};

// The files, -o, --threads and --no-progress. `what`: the files in words.
void AddJobOptions(CLI::App& app, JobCommand& command, const std::string& what);

// --threads and --no-progress alone.
void AddReadingOptions(CLI::App& app, JobCommand& command);

// --format and --rows, of what WriteJobOrExplain() writes.
void AddJobReportOptions(CLI::App& app, JobCommand& command);

// What to read with. `on_progress` keeps `bar`, if there is one.
class ProgressBar;
JobOptions ReadingOptions(const JobCommand& command, ProgressBar* bar);

// The job, or the exit code: why there is none was told on stderr.
std::variant<const Job*, int> JobOrExplain(const JobCommand& command, const Result<Job>& job);

// Writes what the ranks tell of each other; returns the exit code. One text, whichever program read
// the files.
int WriteJobOrExplain(const JobCommand& command, const Result<Job>& job);

// What a command that reports on a job says of itself in --help.
struct JobHelp {
  const char* program;
  const char* about;
  const char* footer;
  const char* files;  // that it takes, in words
};

// The whole command: parses, reads, and writes what the ranks tell of each other. Returns the exit
// code.
int ReportOnJob(const JobHelp& help, const std::vector<std::string>& arguments);

// As StyleOf() of a run.
PageStyle StyleOf(const JobCommand& command);

}  // namespace traceinject
