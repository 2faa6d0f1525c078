// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analyzer/common/private_file.h"
#include "analyzer/import/temporary_file.h"

namespace traceinject {
namespace {

std::string Reason() { return std::strerror(errno); }

bool WriteAll(int fd, const std::string& content) {
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t bytes = write(fd, content.data() + written, content.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return false;
    written += static_cast<std::size_t>(bytes);
  }
  return fsync(fd) == 0;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, std::size_t most_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return Error{"cannot be opened: " + Reason()};
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error{"is not a regular file"};
  }
  std::string content;
  char buffer[1 << 16];
  while (content.size() <= most_bytes) {
    const ssize_t bytes = read(file.get(), buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return Error{"cannot be read: " + Reason()};
    if (bytes == 0) return content;
    content.append(buffer, static_cast<std::size_t>(bytes));
  }
  return Error{"is larger than " + std::to_string(most_bytes) + " bytes"};
}

Status ReplaceFile(const std::string& path, const std::string& content) {
  const std::string beside = path + ".new." + std::to_string(getpid());
  // As the one that it replaces, which may have been shared.
  struct stat old;
  const mode_t mode = stat(path.c_str(), &old) == 0 ? old.st_mode & 0777 : kPrivateFileMode;
  const FileDescriptor file(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.valid()) return Error{"cannot be written: " + Reason()};
  if (WriteAll(file.get(), content) && std::rename(beside.c_str(), path.c_str()) == 0) {
    return Done{};
  }
  const Error error{"cannot be written: " + Reason()};
  unlink(beside.c_str());
  return error;
}

}  // namespace traceinject
