// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analyzer/commands/analyze.h"
#include "analyzer/common/private_file.h"

namespace traceinject {

namespace {

std::FILE* OpenPrivate(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivateFileMode);
  return fd < 0 ? nullptr : fdopen(fd, "wb");
}

}  // namespace

Status WriteOutput(const std::string& path, std::string_view data) {
  const bool to_stdout = path == "-";
  std::FILE* file = to_stdout ? stdout : OpenPrivate(path);
  if (file == nullptr)
    return Error{fmt::format("{}: cannot write ({})", path, std::strerror(errno))};
  bool written = std::fwrite(data.data(), 1, data.size(), file) == data.size();
  int cause = errno;
  // A full disk often shows only now.
  const bool flushed = to_stdout ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (written && !flushed) cause = errno;
  written = written && flushed;
  if (!written)
    return Error{
        fmt::format("{}: write failed ({})", to_stdout ? "stdout" : path, std::strerror(cause))};
  return Done{};
}

int WriteOrExplain(const std::string& program, const std::string& path, std::string_view data) {
  const Status written = WriteOutput(path, data);
  if (written.ok()) return kReported;
  fmt::print(stderr, "{}: {}\n", program, written.error());
  return kUnreadable;
}

}  // namespace traceinject
