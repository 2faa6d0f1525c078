// SPDX-License-Identifier: Apache-2.0
// The recording that is served: read and judged once, for all who look at it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/core/load/background_load.h"
#include "viewer/core/load/background_report.h"

namespace traceinject {

class SharedRun {
 public:
  // Begins to read. `follows`: again whenever the recording grows.
  explicit SharedRun(const std::vector<std::string>& paths, bool follows = false)
      : load_(paths, {.follow = follows}) {}

  // Takes what was read since; never waits.
  void Update();
  // Until something was read, or could not be, or so long.
  void WaitForFirst(std::chrono::milliseconds most);
  // Frees what a viewer showed once nobody shows it, where that holds nobody up.
  void Discard(std::shared_ptr<const LoadedRun> run) { load_.Discard(std::move(run)); }
  // Null until there is something; another one once there is more.
  const std::shared_ptr<const LoadedRun>& loaded() const { return loaded_; }
  // Works out the verdict of what was loaded last, once for all.
  const std::shared_ptr<ReportTask>& judge() const { return judge_; }
  // Why it could not be read; empty: it could.
  const std::string& problem() const { return problem_; }
  // Empty while nothing is being read.
  std::optional<LoadProgress> progress() const;

 private:
  BackgroundLoad load_;
  const std::shared_ptr<ReportTask> judge_ = std::make_shared<ReportTask>(ReportOn);
  std::shared_ptr<const LoadedRun> loaded_;
  std::string problem_;
};

}  // namespace traceinject
