// SPDX-License-Identifier: Apache-2.0
// Reads a run and builds its rows on a thread of its own, so that the window lives meanwhile. What
// is read is handed over in steps, each an immutable whole: of a large run first a quick look at
// its beginning, then all of it; of one that is followed, all of it again each time it grew.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/view/rows/links.h"
#include "analyzer/view/rows/rows.h"

namespace traceinject {

struct LoadedRun {
  Run run;
  RowModel rows;  // points into nothing: indices of `run`
  Links links;    // points to both
};

// Whether all events were read, not only the first ones. O(ranks).
bool IsWhole(const Run& run);

using LoadResult = Result<std::unique_ptr<const LoadedRun>>;

// Reads here and now.
LoadResult LoadWithRows(const std::vector<std::string>& paths, const LoadOptions& options);

// Changes whenever one of the files behind the paths does: which there are, their sizes and times.
// Looks at the file system.
std::string FilesStamp(const std::vector<std::string>& paths);

class BackgroundLoad {
 public:
  // More events than this are worth a quick look first, at about as many.
  static constexpr std::uint64_t kQuickLookRows = 200'000;

  struct Options {
    bool follow = false;  // read again when the files change, at most once a second
    std::uint64_t quick_look_rows = kQuickLookRows;
  };

  BackgroundLoad(std::vector<std::string> paths, const Options& options);
  // Breaks off and waits for the thread, which may take a moment: see Stop().
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  // Asks the thread to end; it will be done() soon. Does not wait.
  void Stop();

  LoadProgress progress() const;
  // Whether something is being read now.
  bool reading() const { return reading_; }
  // Whether the thread has ended: nothing comes any more but what Take() still holds.
  bool done() const { return done_; }
  // The newest result that was not taken yet. Errors only come first: what cannot be read again is
  // left as it was shown. Never waits for reading.
  std::optional<LoadResult> Take();
  // Frees a large run on the thread, if that still runs: it takes longer than a frame.
  void Discard(std::shared_ptr<const LoadedRun> run);

 private:
  void Work(const Options& options);
  // False if it was stopped.
  bool ReadOnce(std::uint64_t quick_look_rows);
  void FreeDiscarded();
  bool SleepFor(std::chrono::milliseconds time);
  LoadResult Load(std::uint64_t most_rows);
  void Publish(LoadResult result);

  const std::vector<std::string> paths_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  LoadProgress progress_;
  std::optional<LoadResult> result_;
  std::vector<std::shared_ptr<const LoadedRun>> discarded_;
  bool shown_ = false;  // a whole run was handed over; only the thread looks
  std::atomic<bool> stop_ = false, reading_ = true, done_ = false;
  std::thread thread_;
};

}  // namespace traceinject
