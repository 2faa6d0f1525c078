// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: tells in the order in which it happens what is done to the
// folder LOG_WRITES_OF, or to whatever has that in its path, so that a loss of power at any moment
// can be played (power_loss.py). Each entry of the file LOG_WRITES_TO is a Header, the path, and
// what was written.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <mutex>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Kind : uint32_t { kWrite = 1, kTruncate = 2, kSync = 3, kUnlink = 4 };

// As power_loss.py unpacks it.
struct Header {
  uint32_t kind;
  uint32_t path_bytes;
  uint64_t inode;  // of kUnlink: 0
  int64_t offset;  // of kTruncate: the size
  uint64_t data_bytes;
  int64_t time_ns;  // CLOCK_MONOTONIC
};

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool IsWatched(const char* path) {
  static const char* part = getenv("LOG_WRITES_OF");
  return part != nullptr && strstr(path, part) != nullptr;
}

long OpenLog() {
  const char* path = getenv("LOG_WRITES_TO");
  return path == nullptr ? -1
                         : syscall(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// A call of the kernel at a time, so that the entry is whole when the process is killed.
void Tell(Kind kind, const char* path, uint64_t inode, int64_t offset, const void* data,
          size_t bytes) {
  static const long log = OpenLog();
  static std::mutex mutex;
  if (log < 0) return;
  timespec now;
  std::lock_guard lock(mutex);
  clock_gettime(CLOCK_MONOTONIC, &now);
  Header header{kind,  static_cast<uint32_t>(strlen(path)),     inode, offset,
                bytes, now.tv_sec * 1'000'000'000 + now.tv_nsec};
  const iovec parts[] = {{&header, sizeof header},
                         {const_cast<char*>(path), header.path_bytes},
                         {const_cast<void*>(data), bytes}};
  if (syscall(SYS_writev, log, parts, 3) !=
      static_cast<long>(sizeof header + header.path_bytes + bytes))
    abort();  // a log with a hole would prove nothing
}

// After the call: what failed did nothing.
void TellOfDescriptor(Kind kind, int fd, int64_t offset, const void* data, size_t bytes) {
  const int saved_errno = errno;
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  struct stat file;
  if (length > 0) {
    path[length] = '\0';
    if (IsWatched(path) && fstat(fd, &file) == 0)
      Tell(kind, path, file.st_ino, offset, data, bytes);
  }
  errno = saved_errno;
}

}  // namespace

EXPORT ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  static auto next = Next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const ssize_t done = next(fd, data, bytes, offset);
  if (done > 0) TellOfDescriptor(kWrite, fd, offset, data, static_cast<size_t>(done));
  return done;
}

EXPORT ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  return pwrite(fd, data, bytes, offset);
}

EXPORT int ftruncate(int fd, off_t size) {
  static auto next = Next<int (*)(int, off_t)>("ftruncate");
  const int result = next(fd, size);
  if (result == 0) TellOfDescriptor(kTruncate, fd, size, nullptr, 0);
  return result;
}

EXPORT int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

EXPORT int fsync(int fd) {
  static auto next = Next<int (*)(int)>("fsync");
  const int result = next(fd);
  if (result == 0) TellOfDescriptor(kSync, fd, 0, nullptr, 0);
  return result;
}

EXPORT int fdatasync(int fd) {
  static auto next = Next<int (*)(int)>("fdatasync");
  const int result = next(fd);
  if (result == 0) TellOfDescriptor(kSync, fd, 0, nullptr, 0);
  return result;
}

EXPORT int unlink(const char* path) {
  static auto next = Next<int (*)(const char*)>("unlink");
  const int result = next(path);
  if (result == 0 && IsWatched(path)) {
    const int saved_errno = errno;
    Tell(kUnlink, path, 0, 0, nullptr, 0);
    errno = saved_errno;
  }
  return result;
}
