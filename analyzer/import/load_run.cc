// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "analyzer/common/units.h"
#include "analyzer/import/kineto_json.h"
#include "analyzer/import/open_recording.h"
#include "analyzer/import/read_run_db.h"
#include "analyzer/import/run_paths.h"

namespace traceinject {
namespace {

struct FileJob {
  std::string path;
  ReadProgress progress;
  std::atomic<bool> done{false};
  std::optional<Result<RecordedFile>> result;  // set before `done`
};

Result<RecordedFile> ReadFile(const std::string& path, std::uint64_t most_rows,
                              ReadProgress& progress) {
  try {
    // As a whole: a trace lists all host operators first, and its GPU operations by buffer. In the
    // public ones half of the file is read before the first tenth of the GPU's time is complete.
    if (IsKinetoJson(path)) return ReadKinetoJson(path, progress);
    const auto database = OpenRecording(path);
    if (!database.ok()) return Error{database.error()};
    return ReadRunDb(database.value(), progress, most_rows);
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("{}: there is not enough memory to hold it. Use a machine with more, or "
                    "analyze fewer ranks.",
                    path)};
  }
}

LoadProgress Summarise(const std::vector<std::unique_ptr<FileJob>>& jobs) {
  LoadProgress progress;
  progress.files = jobs.size();
  double shares = 0;
  for (const auto& job : jobs) {
    const std::uint64_t rows = job->progress.rows, total = job->progress.rows_total;
    progress.rows += rows;
    if (job->done) {
      ++progress.files_done;
      shares += 1;
    } else if (total > 0) {
      // What comes after the last row, sorting and joining, takes about a fifth of the time.
      shares += 0.8 * std::min(1.0, static_cast<double>(rows) / static_cast<double>(total));
    }
  }
  progress.share = shares / static_cast<double>(jobs.size());
  return progress;
}

// Reads all files on `threads` threads; the calling thread reports.
void ReadAll(const std::vector<std::unique_ptr<FileJob>>& jobs, const LoadOptions& options) {
  std::mutex mutex;
  std::condition_variable finished;
  std::atomic<std::size_t> next{0};
  std::size_t running = 0;
  const unsigned wanted =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const std::size_t count = std::min<std::size_t>(wanted, jobs.size());
  const std::uint64_t most_rows =
      options.most_rows == 0 ? 0 : std::max<std::uint64_t>(options.most_rows / jobs.size(), 1);
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      jobs[i]->result.emplace(IsStopped(options.stop)
                                  ? Stopped(jobs[i]->path)
                                  : ReadFile(jobs[i]->path, most_rows, jobs[i]->progress));
      jobs[i]->done = true;
    }
    const std::lock_guard lock(mutex);
    --running;
    finished.notify_one();
  };
  running = count;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  std::unique_lock lock(mutex);
  while (!finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
    if (IsStopped(options.stop)) {
      for (const auto& job : jobs) job->progress.stop = true;
    }
    if (!options.on_progress) continue;
    lock.unlock();
    options.on_progress(Summarise(jobs));
    lock.lock();
  }
  if (options.on_progress) options.on_progress(Summarise(jobs));
}

std::int64_t Started_ns(const RecordedFile& file) {
  return file.base_ns + file.ranks.front().start;
}

// Leaves the files of the attempt that began last. Files are never mixed across attempts: their
// steps have nothing in common.
void KeepNewestAttempt(std::vector<RecordedFile>& files, std::vector<std::string>& notes) {
  const auto newest = std::max_element(
      files.begin(), files.end(),
      [](const RecordedFile& a, const RecordedFile& b) { return Started_ns(a) < Started_ns(b); });
  const std::string run_id = newest->ranks.front().run_id;
  std::vector<std::string> left_out;
  std::vector<RecordedFile> kept;
  for (RecordedFile& file : files) {
    if (file.ranks.front().run_id == run_id) {
      kept.push_back(std::move(file));
    } else {
      left_out.push_back(
          fmt::format("{} ({})", file.ranks.front().path, FormatDate(Started_ns(file))));
    }
  }
  files = std::move(kept);
  if (left_out.empty()) return;
  constexpr std::size_t kNamed = 4;
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, left_out.size()); ++i)
    named += (i > 0 ? ", " : "") + left_out[i];
  if (left_out.size() > kNamed) named += fmt::format(", and {} more", left_out.size() - kNamed);
  notes.push_back(
      fmt::format("only the newest attempt was read (run id '{}'); left out, of other attempts: {}",
                  run_id, named));
}

// Adds `by` to every time of a rank. Open ends stay open.
void Shift(Rank& rank, TimeNs by) {
  if (by == 0) return;
  const auto shift = [by](std::vector<TimeNs>& column) {
    for (TimeNs& time : column) time += time == kOpen ? 0 : by;
  };
  const auto shift_both = [&](auto& columns) {
    shift(columns.start);
    shift(columns.end);
  };
  for (Device& device : rank.devices) {
    shift_both(device.ops);
    for (Interval& lost : device.ops.unrecorded) {
      lost.start += by;
      lost.end += lost.end == kOpen ? 0 : by;
    }
    shift(device.samples.time);
    shift(device.slow_samples.time);
    shift(device.allocator.time);
  }
  shift_both(rank.api);
  shift_both(rank.syncs);
  shift_both(rank.nvtx);
  shift_both(rank.collectives);
  shift_both(rank.gemms);
  shift_both(rank.attentions);
  shift_both(rank.data_waits);
  shift_both(rank.host_spans);
  shift(rank.memory.time);
  shift(rank.step_marks.time);
  shift(rank.plans.time);
  shift(rank.plans.launch_start);
  shift(rank.plans.launch_end);
  shift(rank.host_samples.time);
  shift(rank.worker_samples.time);
  for (Worker& worker : rank.workers) {
    worker.start += by;
    if (worker.end != kOpen) worker.end += by;
  }
  for (CaptureGap& gap : rank.gaps) {
    gap.start += by;
    if (gap.end != kOpen) gap.end += by;
  }
  for (Communicator& communicator : rank.communicators) {
    if (communicator.created != Communicator().created) communicator.created += by;
  }
  shift(rank.clocks.realtime);
  for (ClockStep& step : rank.trust.clock_steps) step.at_ns += by;
  rank.start += by;
  rank.end += by;
  if (rank.read_until != kOpen) rank.read_until += by;
  if (rank.kept_from) *rank.kept_from += by;
}

void NoteDoubleRanks(Run& run) {
  std::map<int, int> files_of;
  for (const Rank& rank : run.ranks) {
    if (rank.rank) ++files_of[*rank.rank];
  }
  for (const auto& [rank, count] : files_of) {
    if (count > 1)
      run.notes.push_back(fmt::format(
          "{} processes say that they are rank {}: a launcher's child or a restart", count, rank));
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
    run.notes.push_back(fmt::format("the job has {} ranks, of which {} {} read", world, recorded,
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
    run.notes.push_back(
        "not all traces overlap in time: they are of several runs, or of several cycles of the "
        "profiler. Name those of one cycle only");
}

void NoteSeveralHosts(Run& run) {
  std::set<std::string_view> hosts;
  for (const Rank& rank : run.ranks) hosts.insert(rank.process.host);
  if (hosts.size() > 1)
    run.notes.push_back(
        fmt::format("the processes ran on {} hosts, whose clocks were not compared: times on one "
                    "host may be shifted against those on another",
                    hosts.size()));
}

// What is kept of the runs of flight recorders.
void NoteKeptParts(Run& run) {
  TimeNs shortest = kOpen, longest = 0, whole = 0;
  for (const Rank& rank : run.ranks) {
    if (!rank.kept_from) continue;
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
      fmt::format("recorded by a flight recorder (TRACEINJECT_KEEP_LAST): of {} the last {} were "
                  "kept, and this is about those",
                  FormatTime(whole), kept));
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
      most == 1
          ? "a part of the run was recorded (TRACEINJECT_WINDOW), and this is about that"
          : fmt::format("{} parts of the run were recorded (TRACEINJECT_WINDOW). This is about the "
                        "longest; name another with --from and --to",
                        most));
}

Run Join(std::vector<RecordedFile> files, std::vector<std::string> notes) {
  Run run;
  run.notes = std::move(notes);
  run.base_ns = files.front().base_ns;
  for (const RecordedFile& file : files) run.base_ns = std::min(run.base_ns, file.base_ns);
  for (RecordedFile& file : files) {
    run.notes.insert(run.notes.end(), file.notes.begin(), file.notes.end());
    for (Rank& rank : file.ranks) {
      Shift(rank, file.base_ns - run.base_ns);
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
  NoteSeveralHosts(run);
  NoteKeptParts(run);
  NoteWindows(run);
  return run;
}

}  // namespace

Result<Run> LoadRun(const std::vector<std::string>& paths, const LoadOptions& options) {
  auto named = ResolveRunPaths(paths);
  if (!named.ok()) return Error{named.error()};
  std::vector<std::unique_ptr<FileJob>> jobs;
  for (std::string& file : named.value().files) {
    jobs.push_back(std::make_unique<FileJob>());
    jobs.back()->path = std::move(file);
  }
  ReadAll(jobs, options);
  if (IsStopped(options.stop)) return Stopped(jobs.front()->path);

  std::vector<RecordedFile> files;
  std::vector<std::string> errors;
  for (const auto& job : jobs) {
    if (job->result->ok()) {
      files.push_back(std::move(*job->result).value());
    } else {
      errors.push_back(job->result->error());
    }
  }
  if (files.empty()) {
    if (errors.size() == 1) return Error{errors.front()};
    return Error{fmt::format("{}\n(and {} more file{}: none could be read)", errors.front(),
                             errors.size() - 1, errors.size() == 2 ? "" : "s")};
  }
  std::vector<std::string> notes = std::move(named.value().notes);
  for (const std::string& error : errors) notes.push_back("left out: " + error);
  KeepNewestAttempt(files, notes);
  return Join(std::move(files), std::move(notes));
}

}  // namespace traceinject
