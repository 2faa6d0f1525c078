// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/background_load.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <utility>

#include "analyzer/import/open/run_paths.h"
#include "analyzer/ranks/match/align_run.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kFollowEvery{1'000};

}  // namespace

bool IsWhole(const Run& run) {
  return std::all_of(run.ranks.begin(), run.ranks.end(),
                     [](const Rank& rank) { return rank.read_until == kOpen; });
}

LoadResult LoadWithRows(const std::vector<std::string>& paths, const LoadOptions& options) {
  Result<Run> run = LoadRun(paths, options);
  if (!run.ok()) return Error{run.error()};
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run = std::move(run).value();
  for (std::string& done : AlignRun(loaded->run)) loaded->run.notes.push_back(std::move(done));
  loaded->links = Links(loaded->run);
  // What reading and building no longer need goes back to the system, so that it does not add up.
  malloc_trim(0);
  loaded->rows = BuildRows(loaded->run);
  loaded->links.IndexRows(loaded->rows);
  malloc_trim(0);
  return std::unique_ptr<const LoadedRun>(std::move(loaded));
}

std::string FilesStamp(const std::vector<std::string>& paths) {
  const auto named = ResolveRunPaths(paths);
  if (!named.ok()) return "";
  std::string stamp;
  for (const std::string& file : named.value().files) {
    for (const char* suffix : {"", "-wal"}) {
      std::error_code size_error, time_error;
      const auto bytes = fs::file_size(file + suffix, size_error);
      const auto time = fs::last_write_time(file + suffix, time_error);
      if (size_error || time_error) continue;
      stamp += fmt::format("{}{} {} {}\n", file, suffix, bytes, time.time_since_epoch().count());
    }
  }
  return stamp;
}

BackgroundLoad::BackgroundLoad(std::vector<std::string> paths, const Options& options)
    : paths_(std::move(paths)), thread_([this, options] { Work(options); }) {}

BackgroundLoad::~BackgroundLoad() {
  Stop();
  thread_.join();
}

void BackgroundLoad::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
}

void BackgroundLoad::Work(const Options& options) {
  // Looked at before reading: what is written meanwhile is seen as a change.
  std::string stamp = options.follow ? FilesStamp(paths_) : "";
  bool goes_on = ReadOnce(options.quick_look_rows);
  reading_ = false;
  while (options.follow && goes_on && SleepFor(kFollowEvery)) {
    FreeDiscarded();
    std::string now = FilesStamp(paths_);
    if (now == stamp) continue;
    stamp = std::move(now);
    reading_ = true;
    goes_on = ReadOnce(0);
    reading_ = false;
  }
  done_ = true;
}

bool BackgroundLoad::ReadOnce(std::uint64_t quick_look_rows) {
  LoadResult result = Load(quick_look_rows);
  if (result.ok() && !stop_ && !IsWhole(result.value()->run)) {
    Publish(std::move(result));
    result = Load(0);
  }
  if (stop_) return false;
  Publish(std::move(result));
  return true;
}

LoadResult BackgroundLoad::Load(std::uint64_t most_rows) {
  LoadOptions options;
  options.most_rows = most_rows;
  options.stop = &stop_;
  options.on_progress = [this](const LoadProgress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  };
  try {
    return LoadWithRows(paths_, options);
  } catch (const std::bad_alloc&) {
    return Error{
        "not enough memory to show it. Use a machine with more memory, or open fewer ranks."};
  }
}

void BackgroundLoad::Publish(LoadResult result) {
  if (!result.ok() && shown_) return;
  shown_ = result.ok() && IsWhole(result.value()->run);
  std::optional<LoadResult> older;  // freed without the lock
  const std::lock_guard lock(mutex_);
  older = std::exchange(result_, std::nullopt);
  result_.emplace(std::move(result));
}

bool BackgroundLoad::SleepFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, time, [this] { return stop_.load(); });
}

void BackgroundLoad::Discard(std::shared_ptr<const LoadedRun> run) {
  if (done_) return;  // and so free it here
  const std::lock_guard lock(mutex_);
  discarded_.push_back(std::move(run));
}

void BackgroundLoad::FreeDiscarded() {
  std::vector<std::shared_ptr<const LoadedRun>> discarded;  // freed without the lock
  const std::lock_guard lock(mutex_);
  discarded.swap(discarded_);
}

LoadProgress BackgroundLoad::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::optional<LoadResult> BackgroundLoad::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(result_, std::nullopt);
}

}  // namespace traceinject
