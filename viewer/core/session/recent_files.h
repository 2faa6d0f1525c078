// SPDX-License-Identifier: Apache-2.0
// The recordings that were opened last, kept from one window to the next.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "viewer/core/load/latest_task.h"

namespace traceinject {

// "$XDG_STATE_HOME/traceview/recent", by default in ~/.local/state; empty where no home is known.
std::string RecentFilesPath();

class RecentFiles {
 public:
  static constexpr std::size_t kMax = 10;

  // Reads what the file has, a path a line. An empty path: nothing is kept.
  explicit RecentFiles(std::string path);
  // What was to be written is written first.
  ~RecentFiles() { Wait(); }
  RecentFiles(const RecentFiles&) = delete;
  RecentFiles& operator=(const RecentFiles&) = delete;

  // Newest first.
  const std::vector<std::string>& paths() const { return paths_; }
  // Puts a recording first, absolutely, and writes that beside the caller, who does not wait.
  void Add(const std::string& recording);
  void Wait() const {
    if (writing_) writing_->Wait();
  }

 private:
  std::string path_;
  std::vector<std::string> paths_;
  std::unique_ptr<LatestTask<std::vector<std::string>, Status>> writing_;  // null: nothing yet
};

}  // namespace traceinject
