// SPDX-License-Identifier: Apache-2.0
// The recording that is served: read once, for all who look at it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/core/load/background_load.h"

namespace traceinject {

class SharedRun {
 public:
  // Begins to read.
  explicit SharedRun(const std::vector<std::string>& paths) : load_(paths, {}) {}

  // Takes what was read since; never waits.
  void Update();
  // Null until there is something; another one once there is more.
  const std::shared_ptr<const LoadedRun>& loaded() const { return loaded_; }
  // Why it could not be read; empty: it could.
  const std::string& problem() const { return problem_; }
  // Empty while nothing is being read.
  std::optional<LoadProgress> progress() const;

 private:
  BackgroundLoad load_;
  std::shared_ptr<const LoadedRun> loaded_;
  std::string problem_;
};

}  // namespace traceinject
