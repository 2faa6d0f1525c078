// SPDX-License-Identifier: Apache-2.0
// A file beside the recording by which the user of the run turns recording on and off while the
// program runs (analyze trigger): one word, start or stop or auto, and after start perhaps the time
// at which it ends, in ns since the epoch. No signal is involved.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace traceinject {

class TriggerFile {
 public:
  // What is ordered, as the time until which is recorded, in ns since the epoch.
  static constexpr std::int64_t kStop = 0, kStart = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kNoOrder = -1;  // as the plan says

  // Orders from before `since_ns` were meant for another run.
  TriggerFile(std::string path, std::int64_t since_ns)
      : path_(std::move(path)), since_ns_(since_ns) {}

  // Reads the file if there is one. A file that says nothing known, is somebody else's (but
  // root's), or is gone, orders nothing. May take as long as its file system does.
  std::int64_t Read() const;

 private:
  std::string path_;
  std::int64_t since_ns_;
};

}  // namespace traceinject
