// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "analyzer/common/private_file.h"

namespace traceinject {
namespace {

constexpr std::string_view kJournalOfSqlite = "-journal";

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<TemporaryFile> TemporaryFile::Create() {
  const char* folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/traceinject-XXXXXX";
  RemovedOnSignal removed;
  FileDescriptor fd(removed.Make(path));
  if (!fd.valid()) {
    return Error{fmt::format(
        "{}: cannot create a temporary file there ({}). Set TMPDIR to a folder with free space.",
        path, std::strerror(errno))};
  }
  return TemporaryFile(std::move(path), std::move(fd), removed);
}

Result<TemporaryFile> TemporaryFile::CreateBeside(const std::string& path) {
  std::string name = path + ".part-XXXXXX";
  RemovedOnSignal removed;
  FileDescriptor fd(removed.Make(name));
  if (!fd.valid())
    return Error{fmt::format("{}: cannot create a file there ({})", path, std::strerror(errno))};
  return TemporaryFile(std::move(name), std::move(fd), removed);
}

TemporaryFile::TemporaryFile(std::string path, FileDescriptor fd, RemovedOnSignal removed)
    : path_(std::move(path)), fd_(std::move(fd)), removed_(removed) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)), removed_(other.removed_) {}

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  unlink(path_.c_str());
  unlink((path_ + std::string(kJournalOfSqlite)).c_str());
  Forget();
}

void TemporaryFile::Forget() {
  path_.clear();
  removed_.Keep();
}

Status TemporaryFile::Keep(const std::string& path) {
  if (fchmod(fd_.get(), kPrivateFileMode) != 0 || fsync(fd_.get()) != 0 ||
      std::rename(path_.c_str(), path.c_str()) != 0)
    return Error{fmt::format("{}: cannot write ({})", path, std::strerror(errno))};
  Forget();
  return Done{};
}

Status TemporaryFile::Append(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(fd_.get(), bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Error{fmt::format(
          "{}: cannot write the temporary file ({}). Set TMPDIR to a folder with free space.",
          path_, std::strerror(errno))};
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return Done{};
}

}  // namespace traceinject
