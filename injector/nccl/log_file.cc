// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "injector/base/counters.h"
#include "injector/base/guarded_io.h"

namespace traceinject {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;

}  // namespace

NcclLogFile::~NcclLogFile() {
  if (fd_ >= 0) GuardedClose(fd_);
}

void NcclLogFile::Fail(const char* why) {
  failure_ = path_ + ": " + why;
  g_counters.Add(Health::kNcclLogFailed);
}

// NCCL may also begin another one later (ncclResetDebugInit).
void NcclLogFile::Open(const Visit& visit) {
  // Whoever could guess the name could have put a link, a pipe or a device there.
  const int fd = GuardedOpen(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) {
    if (errno != ENOENT && errno != EMFILE && errno != ENFILE) Fail("cannot open it");
    return;
  }
  GuardedExpectRemoved(fd);
  struct stat file;
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_uid != geteuid()) {
    GuardedClose(fd);
    return Fail("not a regular file owned by this user");
  }
  unlink(path_.c_str());
  if (fd_ >= 0) {
    Read(visit);
    GuardedClose(fd_);
  }
  fd_ = fd;
  offset_ = 0;
  line_.clear();
  clipped_ = false;
}

void NcclLogFile::Poll(const Visit& visit) {
  if (path_.empty() || !failure_.empty()) return;
  Open(visit);
  if (fd_ >= 0) Read(visit);
}

void NcclLogFile::Read(const Visit& visit) {
  std::string chunk(kChunkBytes, '\0');
  // The program may have closed the descriptor, and have one of its own under that number.
  while (GuardedIsOurs(fd_)) {
    if (total_ >= kMaxBytes) return;
    const ssize_t read = pread(fd_, chunk.data(), chunk.size(), offset_);
    if (read <= 0) return;
    offset_ += read;
    total_ += read;
    if (total_ >= kMaxBytes) g_counters.Add(Health::kNcclLogDropped);
    Take(std::string_view(chunk).substr(0, static_cast<std::size_t>(read)), visit);
  }
  Fail("the program closed its file descriptor");
  GuardedClose(fd_);
  fd_ = -1;
}

void NcclLogFile::Take(std::string_view bytes, const Visit& visit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const std::size_t room = kMaxLineBytes - line_.size();
    clipped_ |= part.size() > room;
    line_.append(part.substr(0, room));
    if (end == std::string_view::npos) return;
    if (!clipped_) visit(line_);
    if (clipped_) g_counters.Add(Health::kNcclLogDropped);
    line_.clear();
    clipped_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void NcclLogFile::Remove() const noexcept {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace traceinject
