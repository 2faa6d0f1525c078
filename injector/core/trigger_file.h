// SPDX-License-Identifier: Apache-2.0
// A file beside the recording by which somebody outside turns recording on and off while the
// program runs (analyze trigger): one word, start or stop or auto, and after start perhaps the time
// at which it ends, in ns since the epoch. Read by the writer once a flush; no signal is involved.
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

class TriggerFile {
 public:
  enum class Order { kNone, kStart, kStop };  // none: as the plan says

  // Orders from before `since_ns` were meant for another run.
  TriggerFile(std::string path, std::int64_t since_ns)
      : path_(std::move(path)), since_ns_(since_ns) {}

  // Reads the file if there is one. A file that says nothing known, or is gone, orders nothing.
  Order Read(std::int64_t now_ns) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::int64_t since_ns_;
};

}  // namespace traceinject
