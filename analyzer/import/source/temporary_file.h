// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/common/result.h"
#include "analyzer/import/source/removed_on_signal.h"

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

// A file of ours that disappears with its owner, together with its journal;
// what has it open keeps it. It also disappears when the process ends by Ctrl-C, SIGTERM or SIGHUP:
// an unpacked recording may fill a disk. Those signals keep their effect.
class TemporaryFile {
 public:
  // In TMPDIR or /tmp.
  static Result<TemporaryFile> Create();
  // Beside `path`, for what is to stand there once it is whole.
  static Result<TemporaryFile> CreateBeside(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  ~TemporaryFile();

  Status Append(const char* bytes, std::size_t count);
  // Puts it on the disk and gives it a name for good, in place of what has that name;
  // readable for its owner only, as recordings are. It is no temporary one any more.
  Status Keep(const std::string& path);
  const std::string& path() const { return path_; }

 private:
  TemporaryFile(std::string path, FileDescriptor fd, RemovedOnSignal removed);
  void Forget();
  std::string path_;  // empty: moved from
  FileDescriptor fd_;
  RemovedOnSignal removed_;
};

}  // namespace traceinject
