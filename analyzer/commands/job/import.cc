// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/job_options.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/convert/import_run.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {
namespace {

int Import(const JobCommand& command, bool force) {
  ImportOptions options{.output = command.output,
                        .replace = force,
                        .tool_version = TRACEINJECT_VERSION,
                        .reading = {}};
  const auto traces = ResolveTraces(command.paths);
  if (!traces.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, traces.error());
    return kUnreadable;
  }
  // Before hours of reading; the names of several files are known only after it.
  if (const Status free = ExpectFree(options.output, force, traces.value()); !free.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, free.error());
    return kBadUsage;
  }
  const Result<Imported> imported = [&] {
    ProgressBar bar(!command.no_progress);
    options.reading = ReadingOptions(command, &bar);
    return ImportRun(traces.value(), options);
  }();
  if (!imported.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, Printable(imported.error()));
    return kUnreadable;
  }
  const Imported& done = imported.value();
  for (const std::string& note : done.notes) fmt::print(stderr, "note: {}\n", Printable(note));
  fmt::print(stderr, "{}{}: {} process{}, {}\n", done.files.front(),
             done.files.size() == 1 ? "" : " to " + done.files.back(), done.files.size(),
             done.files.size() == 1 ? "" : "es", FormatBytes(done.bytes));
  return kReported;
}

}  // namespace

int RunImport(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze import", .output = ""};
  bool force = false;
  CLI::App app(
      "Converts traces of other profilers to run.db: PyTorch's profiler (trace.json, "
      "trace.json.gz), Nsight Systems (nsys export --type sqlite) and rocmProfileData (trace.rpd). "
      "A run.db is smaller and faster to read, and analyze info, sql and merge accept it too.",
      command.program);
  app.footer(
      "Traces of several ranks become one file each, run.rank00003.db; run.db stands for all of "
      "them. The traces\n"
      "are not changed; reports on them and on the imported files are the same.\n\n"
      "Timelines of a job's operations (docs/formats.md) hold no GPU work and need no import: "
      "analyze\n"
      "ranks reads them, and analyze summarize makes small summaries of them.\n\n"
      "Examples:\n"
      "  analyze import trace.json.gz -o run.db\n"
      "  analyze import rank0.json rank1.json -o run.db   run.rank00000.db, run.rank00001.db\n"
      "  analyze import traces/ -o run.db                 all traces in a folder\n"
      "  nsys export --type sqlite report1.nsys-rep && analyze import report1.sqlite -o run.db\n"
      "  analyze sql run.db \"SELECT name, count(*) FROM kernels GROUP BY name\"\n");
  app.add_option("traces", command.paths,
                 "trace.json, trace.json.gz, report.sqlite, trace.rpd, or folders of these")
      ->required();
  app.add_option("-o,--output", command.output, "the file to write")->required();
  app.add_flag("--force", force, "overwrite existing files");
  AddReadingOptions(app, command);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  return Import(command, force);
}

}  // namespace traceinject
