// SPDX-License-Identifier: Apache-2.0
// Reads a run and builds its rows on a thread of its own, so that the window lives meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/load_run.h"
#include "viewer/core/rows.h"

namespace traceinject {

struct LoadedRun {
  Run run;
  RowModel rows;  // points into nothing: indices of `run`
};

using LoadResult = Result<std::unique_ptr<const LoadedRun>>;

// Reads here and now.
LoadResult LoadWithRows(const std::vector<std::string>& paths, const LoadOptions& options);

class BackgroundLoad {
 public:
  explicit BackgroundLoad(std::vector<std::string> paths);
  // Waits for the end: reading cannot be broken off.
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  LoadProgress progress() const;
  bool done() const { return done_; }
  // The result, once, when done().
  LoadResult Take();

 private:
  mutable std::mutex mutex_;
  LoadProgress progress_;
  std::optional<LoadResult> result_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace traceinject
