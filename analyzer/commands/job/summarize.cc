// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "analyzer/commands/job/job_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/job_options.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/common/units.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/ranks/load/load_job.h"
#include "analyzer/ranks/summary/summary_file.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with("/") || fs::is_directory(path, ignored);
}

// Where the summary of each file goes. Error: two would go to one place.
Result<std::map<std::string, std::string>> PlanFiles(const std::vector<std::string>& files,
                                                     const std::string& output) {
  std::map<std::string, std::string> target_of, source_of;
  for (const std::string& file : files) {
    const std::string target = IsFolder(output) ? SummaryPath(output, file) : output;
    target_of[file] = target;
    const auto [other, is_new] = source_of.try_emplace(target, file);
    if (!is_new && IsFolder(output))
      return Error{
          fmt::format("the summaries of {} and {} would both be {}; write them to one file "
                      "with -o FILE, or to several folders",
                      other->second, file, target)};
  }
  return target_of;
}

// Files of one target stand behind each other in it. Returns the bytes written.
Result<std::int64_t> WriteAll(const std::vector<SummarizedFile>& files,
                              const std::map<std::string, std::string>& target_of) {
  std::map<std::string, std::string> contents;
  for (const SummarizedFile& file : files) {
    if (!file.job.ok()) continue;
    auto block = WriteSummaries(file.job.value());
    if (!block.ok()) return Error{block.error()};
    contents[target_of.at(file.path)] += block.value();
  }
  std::int64_t bytes = 0;
  for (const auto& [target, content] : contents) {
    if (Status written = WriteOutput(target, content); !written.ok()) return Error{written.error()};
    bytes += static_cast<std::int64_t>(content.size());
  }
  return bytes;
}

int Summarize(const JobCommand& command) {
  const auto named = ResolveRunPaths(command.paths, PathsTo::kRecordingsOrSummaries);
  if (!named.ok()) {
    fmt::print(stderr, "{}\n\n{}", named.error(), MissingRunChecklist(command.paths));
    return kUnreadable;
  }
  const std::vector<std::string>& sources = named.value().files;
  const auto target_of = PlanFiles(sources, command.output);
  if (!target_of.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, target_of.error());
    return kBadUsage;
  }
  const std::vector<SummarizedFile> files = [&] {
    ProgressBar bar(!command.no_progress);
    return SummarizeFiles(sources, ReadingOptions(command, &bar));
  }();
  std::size_t read = 0;
  for (const SummarizedFile& file : files) {
    if (!file.job.ok()) {
      fmt::print(stderr, "{}\n", file.job.error());
      continue;
    }
    ++read;
    for (const std::string& note : file.job.value().notes) fmt::print(stderr, "note: {}\n", note);
  }
  std::error_code ignored;  // writing says it better
  if (IsFolder(command.output)) fs::create_directories(command.output, ignored);
  const auto bytes = WriteAll(files, target_of.value());
  if (!bytes.ok()) {
    fmt::print(stderr, "{}: {}\n", command.program, bytes.error());
    return kUnreadable;
  }
  fmt::print(stderr, "{} of {} files summarized in {}\n", read, files.size(),
             FormatBytes(bytes.value()));
  return read == files.size() ? kReported : kUnreadable;
}

}  // namespace

int RunSummarize(const std::vector<std::string>& arguments) {
  JobCommand command{.program = "analyze summarize", .output = "."};
  CLI::App app(
      "Writes what the cross-rank analysis needs from each recording to a file of a few hundred "
      "kilobytes. Run it on each node, copy the files to one place, and combine them there with "
      "analyze combine.",
      command.program);
  app.footer(
      "Examples:\n"
      "  analyze summarize run.db -o summaries/       summaries/run.rank00000.summary, ...\n"
      "  analyze summarize run.db -o node-a.summary   all in one file\n");
  AddJobOptions(app, command,
                "recordings (run.db stands for run.rank*.db), folders, PyTorch profiler traces, or "
                "timelines of operations");
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  return Summarize(command);
}

}  // namespace traceinject
