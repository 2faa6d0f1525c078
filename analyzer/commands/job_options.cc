// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "analyzer/commands/analyze.h"
#include "analyzer/commands/arguments.h"
#include "analyzer/commands/job_text.h"
#include "analyzer/commands/missing_run.h"
#include "analyzer/commands/output.h"
#include "analyzer/commands/progress_bar.h"
#include "analyzer/import/run_paths.h"

namespace traceinject {

void AddJobOptions(CLI::App& app, JobCommand& command, const std::string& what) {
  app.add_option("files", command.paths, what)->required();
  AddOutput(app, command.output);
  app.add_option("--threads", command.threads, "read so many files at once; 0: one a processor")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  app.add_flag("--no-progress", command.no_progress, "draw no progress bar");
}

JobOptions ReadingOptions(const JobCommand& command, ProgressBar* bar) {
  JobOptions options;
  options.threads = command.threads;
  if (bar != nullptr)
    options.on_progress = [bar](const LoadProgress& progress) { bar->Show(progress); };
  return options;
}

int WriteJobOrExplain(const JobCommand& command, const Result<Job>& job) {
  if (!job.ok()) {
    fmt::print(stderr, "{}\n", job.error());
    if (!ResolveRunPaths(command.paths, PathsTo::kRecordingsOrSummaries).ok())
      fmt::print(stderr, "\n{}", MissingRunChecklist(command.paths));
    return kUnreadable;
  }
  if (job.value().ranks.empty()) {
    for (const std::string& note : job.value().notes) fmt::print(stderr, "{}\n", note);
    fmt::print(stderr, "{}: the recordings hold no GPU work; analyze report says why\n",
               command.program);
    return kUnreadable;
  }
  return WriteOrExplain(command.program, command.output, JobText(job.value()));
}

}  // namespace traceinject
