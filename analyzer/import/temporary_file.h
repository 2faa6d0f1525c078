// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// A file of ours, in TMPDIR or /tmp, that disappears with its owner, together with its journal;
// what has it open keeps it. It also disappears when the process ends by Ctrl-C, SIGTERM or SIGHUP:
// an unpacked recording may fill a disk. Those signals keep their effect.
class TemporaryFile {
 public:
  static Result<TemporaryFile> Create();
  TemporaryFile(TemporaryFile&& other) noexcept;
  ~TemporaryFile();

  Status Append(const char* bytes, std::size_t count);
  const std::string& path() const { return path_; }

 private:
  TemporaryFile(std::string path, FileDescriptor fd);
  std::string path_;  // empty: moved from
  FileDescriptor fd_;
  std::size_t slot_;  // in the list of what a signal removes
};

}  // namespace traceinject
