// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analyzer/import/source/new_file.h"
#include "analyzer/import/source/temporary_file.h"

namespace traceinject {
namespace {

std::string Reason() { return std::strerror(errno); }

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
  const WriteFailure failure = WriteWhole(path, content);
  if (failure.error == 0) return Done{};
  return Error{std::string("cannot be written: ") + std::strerror(failure.error)};
}

}  // namespace traceinject
