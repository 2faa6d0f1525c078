// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/job_options.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/common/units.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/merge/merge_run.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {
namespace {

int Merge(const JobCommand& command, bool force) {
  MergeOptions options{.output = command.output,
                       .replace = force,
                       .tool_version = TRACEINJECT_VERSION,
                       .reading = {}};
  if (const auto named = ResolveRunPaths(command.paths); !named.ok()) {
    fmt::print(stderr, "{}\n\n{}", named.error(), MissingRunChecklist(command.paths));
    return kUnreadable;
  }
  if (const Status free = ExpectFree(options.output, options.replace, command.paths); !free.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, free.error());
    return kBadUsage;
  }
  const Result<Merged> merged = [&] {
    ProgressBar bar(!command.no_progress);
    options.reading = ReadingOptions(command, &bar);
    return MergeRun(command.paths, options);
  }();
  if (!merged.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, merged.error());
    return kUnreadable;
  }
  const Merged& done = merged.value();
  for (const std::string& note : done.notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print(stderr, "{}: {} process{} in {} rows, {}\n", command.output, done.processes,
             done.processes == 1 ? "" : "es", FormatCount(done.rows), FormatBytes(done.bytes));
  return kReported;
}

}  // namespace

int RunMerge(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze merge", .output = ""};
  bool force = false;
  CLI::App app(
      "Merges the recordings of all ranks of a job into one file with aligned clocks, for sharing. "
      "analyze and traceview read it like the originals, which are not changed.",
      command.program);
  app.footer(
      "Recordings of older attempts, and ranks on other hosts whose clocks cannot be aligned, are "
      "left out and\n"
      "listed.\n\n"
      "Examples:\n"
      "  analyze merge run.db -o merged.db     all ranks: run.db stands for run.rank*.db\n"
      "  analyze merge node-a/ node-b/ -o merged.db\n"
      "  traceview merged.db\n");
  app.add_option("run", command.paths,
                 "recordings (run.db stands for run.rank*.db), or folders of these")
      ->required();
  app.add_option("-o,--output", command.output, "the file to write")->required();
  app.add_flag("--force", force, "overwrite an existing file");
  AddReadingOptions(app, command);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  return Merge(command, force);
}

}  // namespace traceinject
