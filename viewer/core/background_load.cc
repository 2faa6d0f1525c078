// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/background_load.h"

#include <malloc.h>

#include <utility>

namespace traceinject {

LoadResult LoadWithRows(const std::vector<std::string>& paths, const LoadOptions& options) {
  Result<Run> run = LoadRun(paths, options);
  if (!run.ok()) return Error{run.error()};
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run = std::move(run).value();
  // What reading and building no longer need goes back to the system, so that it does not add up.
  malloc_trim(0);
  loaded->rows = BuildRows(loaded->run);
  malloc_trim(0);
  return std::unique_ptr<const LoadedRun>(std::move(loaded));
}

BackgroundLoad::BackgroundLoad(std::vector<std::string> paths)
    : thread_([this, files = std::move(paths)] {
        LoadOptions options;
        options.on_progress = [this](const LoadProgress& progress) {
          const std::lock_guard lock(mutex_);
          progress_ = progress;
        };
        LoadResult result = LoadWithRows(files, options);
        const std::lock_guard lock(mutex_);
        result_.emplace(std::move(result));
        done_ = true;
      }) {}

BackgroundLoad::~BackgroundLoad() { thread_.join(); }

LoadProgress BackgroundLoad::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

LoadResult BackgroundLoad::Take() {
  const std::lock_guard lock(mutex_);
  return std::move(*result_);
}

}  // namespace traceinject
