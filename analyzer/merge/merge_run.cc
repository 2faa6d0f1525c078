// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/import/read_files.h"
#include "analyzer/import/run_paths.h"
#include "analyzer/merge/merge_plan.h"
#include "analyzer/merge/merged_file.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Half of the work is to read, the other to write: the bar goes from one end to the other once.
JobOptions HalfOf(const JobOptions& options, double from) {
  JobOptions half = options;
  if (options.on_progress) {
    half.on_progress = [show = options.on_progress, from](const LoadProgress& progress) {
      LoadProgress whole = progress;
      whole.share = from + progress.share / 2;
      show(whole);
    };
  }
  return half;
}

Status AddAll(const MergePlan& plan, const JobOptions& options, MergedFile& to) {
  std::optional<std::string> error;
  ReadFiles(plan.sources.size(),
            {.threads = 1, .stop = options.stop, .on_progress = options.on_progress},
            [&](std::size_t index, ReadProgress& progress) {
              if (error) return;
              const Status added = to.Add(plan.sources[index], progress);
              if (!added.ok()) error = added.error();
            });
  if (IsStopped(options.stop)) return Stopped(plan.sources.front().path);
  if (error) return Error{*error};
  return Done{};
}

}  // namespace

Status ExpectFree(const MergeOptions& options, const std::vector<std::string>& paths) {
  const std::string& output = options.output;
  std::error_code error;
  if (fs::is_directory(output, error))
    return Error{fmt::format("{}: this is a folder; name the file to be written", output)};
  const auto named = ResolveRunPaths(paths);
  for (const std::string& path : named.ok() ? named.value().files : std::vector<std::string>()) {
    if (fs::equivalent(path, output, error))
      return Error{
          fmt::format("{}: this is one of the recordings to be merged; name another file", output)};
  }
  for (const char* suffix : {"-wal", "-journal"}) {
    if (IsThere(output + suffix))
      return Error{
          fmt::format("{}: there is a {}{} beside it, of another recording of that name; "
                      "name another file",
                      output, output, suffix)};
  }
  if (!options.replace && IsThere(output))
    return Error{
        fmt::format("{}: the file is there already; name another one, or replace it with "
                    "--force",
                    output)};
  return Done{};
}

Result<Merged> MergeRun(const std::vector<std::string>& paths, const MergeOptions& options) {
  if (Status free = ExpectFree(options, paths); !free.ok()) return Error{free.error()};
  auto plan = PlanMerge(paths, HalfOf(options.reading, 0));
  if (!plan.ok()) return Error{plan.error()};
  auto file = MergedFile::Create(options.output, plan.value(), options.tool_version);
  if (!file.ok()) return Error{file.error()};
  const Status added = AddAll(plan.value(), HalfOf(options.reading, 0.5), file.value());
  if (!added.ok()) return Error{added.error()};
  // Another program may have been faster.
  if (Status free = ExpectFree(options, paths); !free.ok()) return Error{free.error()};
  if (const Status finished = file.value().Finish(); !finished.ok()) return Error{finished.error()};
  Merged merged{.processes = plan.value().sources.size(), .rows = file.value().rows()};
  std::error_code ignored;
  merged.bytes = static_cast<std::int64_t>(fs::file_size(options.output, ignored));
  merged.notes = std::move(plan.value().notes);
  for (std::string& note : file.value().Notes()) merged.notes.push_back(std::move(note));
  return merged;
}

}  // namespace traceinject
