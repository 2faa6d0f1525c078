// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/import/load/read_files.h"
#include "analyzer/merge/merge_plan.h"
#include "analyzer/merge/merged_file.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

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

Result<Merged> MergeRun(const std::vector<std::string>& paths, const MergeOptions& options) {
  if (Status free = ExpectFree(options.output, options.replace, paths); !free.ok())
    return Error{free.error()};
  auto plan = PlanMerge(paths, HalfOf(options.reading, 0));
  if (!plan.ok()) return Error{plan.error()};
  auto file = MergedFile::Create(options.output, plan.value(), options.tool_version);
  if (!file.ok()) return Error{file.error()};
  const Status added = AddAll(plan.value(), HalfOf(options.reading, 0.5), file.value());
  if (!added.ok()) return Error{added.error()};
  // Another program may have been faster.
  if (Status free = ExpectFree(options.output, options.replace, paths); !free.ok())
    return Error{free.error()};
  if (const Status finished = file.value().Finish(); !finished.ok()) return Error{finished.error()};
  Merged merged{.processes = plan.value().sources.size(), .rows = file.value().rows()};
  std::error_code ignored;
  merged.bytes = static_cast<std::int64_t>(fs::file_size(options.output, ignored));
  merged.notes = std::move(plan.value().notes);
  for (std::string& note : file.value().Notes()) merged.notes.push_back(std::move(note));
  return merged;
}

}  // namespace traceinject
