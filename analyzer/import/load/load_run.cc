// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/load_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/import/load/assume_world.h"
#include "analyzer/import/load/newest_attempt.h"
#include "analyzer/import/load/settle_world.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/model/join_rate.h"
#include "analyzer/model/map_times.h"

namespace traceinject {
namespace {

std::int64_t Started_ns(const RecordedFile& file) {
  return file.base_ns + file.ranks.front().start;
}

// Leaves the files of the attempt that began last.
void KeepNewestAttempt(std::vector<RecordedFile>& files, std::vector<std::string>& notes) {
  std::vector<AttemptFile> attempts;
  for (const RecordedFile& file : files)
    attempts.push_back({file.ranks.front().path, file.ranks.front().run_id, Started_ns(file)});
  NewestAttempt newest = FindNewestAttempt(attempts);
  std::erase_if(
      files, [&](const RecordedFile& file) { return file.ranks.front().run_id != newest.run_id; });
  for (std::string& note : newest.notes) notes.push_back(std::move(note));
}

// A merged file may lie beside recordings that it was made from: of a process that has one of its
// own, that is read.
void LeaveOutCopies(std::vector<RecordedFile>& files, std::vector<std::string>& notes) {
  const auto key = [](const Rank& rank) {
    return std::tuple(rank.process.host, rank.process.pid, rank.rank);
  };
  std::set<std::tuple<std::string, std::int64_t, std::optional<int>>> alone;
  for (const RecordedFile& file : files) {
    if (file.ranks.size() == 1) alone.insert(key(file.ranks.front()));
  }
  for (RecordedFile& file : files) {
    if (file.ranks.size() == 1) continue;
    const std::string path = file.ranks.front().path;
    const std::size_t copies =
        std::erase_if(file.ranks, [&](const Rank& rank) { return alone.contains(key(rank)); });
    if (copies > 0)
      notes.push_back(fmt::format("{}: {} of its processes were read from recordings next to it",
                                  path, copies));
  }
  std::erase_if(files, [](const RecordedFile& file) { return file.ranks.empty(); });
}

void NoteDoubleRanks(Run& run) {
  std::map<int, int> files_of;
  for (const Rank& rank : run.ranks) {
    if (rank.rank) ++files_of[*rank.rank];
  }
  for (const auto& [rank, count] : files_of) {
    if (count > 1)
      run.notes.push_back(fmt::format(
          "{} processes claim to be rank {}: a launcher's child or a restart", count, rank));
  }
}

// Figures of a job of which some ranks are missing look like those of a smaller job.
void NoteMissingRanks(Run& run) {
  int world = 0;
  std::set<int> known;
  for (const Rank& rank : run.ranks) {
    world = std::max(world, rank.process.world_size.value_or(0));
    if (rank.rank) known.insert(*rank.rank);
  }
  const int recorded = static_cast<int>(known.size());
  if (recorded > 0 && recorded < world)
    run.notes.push_back(fmt::format("the job has {} ranks; {} {} read", world, recorded,
                                    recorded == 1 ? "was" : "were"));
}

// Traces carry no id of their job: whether they belong together shows only by their time.
void NoteSeparateTraces(Run& run) {
  TimeNs last_start = std::numeric_limits<TimeNs>::min(),
         first_end = std::numeric_limits<TimeNs>::max();
  for (const Rank& rank : run.ranks) {
    if (rank.imported_from.empty()) continue;
    last_start = std::max(last_start, rank.start);
    first_end = std::min(first_end, rank.end);
  }
  if (last_start > first_end)
    run.notes.emplace_back(
        "not all traces overlap in time: they come from several runs or several profiler cycles. "
        "Give only those of one cycle");
}

// What is kept of the runs of flight recorders.
void NoteKeptParts(Run& run) {
  TimeNs shortest = kOpen, longest = 0, whole = 0;
  for (const Rank& rank : run.ranks) {
    if (!rank.kept_from || !rank.imported_from.empty()) continue;
    const TimeNs kept = std::max<TimeNs>(rank.end - *rank.kept_from, 0);
    shortest = std::min(shortest, kept);
    longest = std::max(longest, kept);
    whole = std::max(whole, rank.end - rank.start);
  }
  if (shortest == kOpen) return;
  const std::string kept = shortest == longest
                               ? FormatTime(shortest)
                               : fmt::format("{} to {}", FormatTime(shortest), FormatTime(longest));
  run.notes.push_back(
      fmt::format("flight recorder (TRACEINJECT_KEEP_LAST): of {} the last {} were kept, and the "
                  "report covers those",
                  FormatTime(whole), kept));
}

// Traces of other profilers begin in the middle of a program, and what was launched before then may
// run long after.
void NoteEarlierLaunches(Run& run) {
  std::int64_t earlier = 0;
  for (const Rank& rank : run.ranks) {
    if (!rank.imported_from.empty()) earlier += CountJoins(rank).beyond;
  }
  if (earlier == 0) return;
  run.notes.push_back(fmt::format(
      "{} GPU operation{} launched before the trace began: what the GPU waited for before {} is "
      "not known",
      FormatCount(earlier), earlier == 1 ? " was" : "s were", earlier == 1 ? "it" : "them"));
}

// Of processes that recorded in windows.
void NoteWindows(Run& run) {
  std::size_t most = 0;
  for (const Rank& rank : run.ranks) {
    std::size_t windows = 0;
    TimeNs from = rank.start;
    for (const CaptureGap& gap : rank.gaps) {
      if (!gap.planned()) continue;
      if (gap.start > from) ++windows;
      from = gap.end;
    }
    if (from == rank.start) continue;
    if (from < rank.end) ++windows;
    most = std::max(most, windows);
  }
  if (most == 0) return;
  run.notes.push_back(
      most == 1 ? "only part of the run was recorded (TRACEINJECT_WINDOW), and the report covers "
                  "that part"
                : fmt::format("{} parts of the run were recorded (TRACEINJECT_WINDOW). The report "
                              "covers one from the middle of similar parts, or --from to --to",
                              most));
}

Run Join(std::vector<RecordedFile> files, std::vector<std::string> notes, TimeNs last_ns) {
  Run run;
  run.notes = std::move(notes);
  run.base_ns = files.front().base_ns;
  for (const RecordedFile& file : files) run.base_ns = std::min(run.base_ns, file.base_ns);
  for (RecordedFile& file : files) {
    run.notes.insert(run.notes.end(), file.notes.begin(), file.notes.end());
    for (Rank& rank : file.ranks) {
      const TimeNs by = file.base_ns - run.base_ns;
      if (by != 0) MapTimes(rank, [by](TimeNs time) { return time + by; });
      run.ranks.push_back(std::move(rank));
    }
  }
  // Processes without a rank come last.
  const auto key = [](const Rank& rank) {
    return std::pair(rank.rank.value_or(std::numeric_limits<int>::max()),
                     std::string_view(rank.path));
  };
  std::stable_sort(run.ranks.begin(), run.ranks.end(),
                   [&](const Rank& a, const Rank& b) { return key(a) < key(b); });
  NoteDoubleRanks(run);
  NoteMissingRanks(run);
  NoteSeparateTraces(run);
  const bool is_cut = std::any_of(run.ranks.begin(), run.ranks.end(),
                                  [](const Rank& rank) { return rank.kept_from.has_value(); });
  if (last_ns > 0 && is_cut) {
    run.notes.push_back(
        fmt::format("this covers the last {} of the recording", FormatTime(last_ns)));
  } else {
    NoteKeptParts(run);
  }
  NoteEarlierLaunches(run);
  if (std::string why = SettleAssumedWorld(run); !why.empty()) run.notes.push_back(std::move(why));
  if (std::string assumed = DescribeAssumed(run); !assumed.empty())
    run.notes.push_back(std::move(assumed));
  NoteWindows(run);
  return run;
}

}  // namespace

Result<Run> LoadRun(const std::vector<std::string>& paths, const LoadOptions& options) {
  auto named = ResolveRunPaths(paths);
  if (!named.ok()) return Error{named.error()};
  const std::vector<std::string>& files_named = named.value().files;
  const std::uint64_t most_rows =
      options.most_rows == 0 ? 0
                             : std::max<std::uint64_t>(options.most_rows / files_named.size(), 1);
  std::vector<std::optional<Result<RecordedFile>>> results(files_named.size());
  ReadFiles(files_named.size(),
            {.threads = options.threads, .stop = options.stop, .on_progress = options.on_progress},
            [&](std::size_t file, ReadProgress& progress) {
              results[file].emplace(ReadRecording(
                  files_named[file], progress,
                  {.tables = options.tables, .most_rows = most_rows, .last_ns = options.last_ns}));
            });
  if (IsStopped(options.stop)) return Stopped(files_named.front());

  std::vector<RecordedFile> files;
  std::vector<std::string> errors;
  for (auto& result : results) {
    if (result->ok()) {
      files.push_back(std::move(*result).value());
    } else {
      errors.push_back(result->error());
    }
  }
  if (files.empty()) return NoneCouldBeRead(errors);
  std::vector<std::string> notes = std::move(named.value().notes);
  for (const std::string& error : errors) notes.push_back("left out: " + error);
  KeepNewestAttempt(files, notes);
  LeaveOutCopies(files, notes);
  return Join(std::move(files), std::move(notes), options.last_ns);
}

}  // namespace traceinject
