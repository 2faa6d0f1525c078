// SPDX-License-Identifier: Apache-2.0
// Preloaded beside libtraceinject.so: makes the files whose path contains FAIL_FILES_PATH fail, and
// no other.
//
//   FAIL_FILES_ERROR     errno of the calls that fail; 0: they succeed, late
//   FAIL_FILES_CALLS     which: "write" (and truncate), "sync", "open" (for writing; and mkdir,
//                        link), "look" (open for reading), or several, "open,write"
//   FAIL_FILES_COUNT     file that gets a byte for each of them; unset: none
//   FAIL_FILES_STALL_MS  how long each of them takes first
//   FAIL_FILES_EVERY     every n-th of them only (1)
//   FAIL_FILES_TIMES     so many of them only; unset: all
//   FAIL_FILES_WHEN      only while this file exists; unset: always
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

long Setting(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? atol(text) : otherwise;
}

void Sleep(long milliseconds) {
  timespec left{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void Count() {
  static const char* path = getenv("FAIL_FILES_COUNT");
  if (path == nullptr) return;
  const long file = syscall(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  syscall(SYS_write, file, "x", 1);
  syscall(SYS_close, file);
}

// True if this call on `path` shall fail; errno is set then.
bool Fails(const char* call, const char* path) {
  static const char* part = getenv("FAIL_FILES_PATH");
  static const char* calls = getenv("FAIL_FILES_CALLS");
  if (part == nullptr || calls == nullptr || strstr(path, part) == nullptr ||
      strstr(calls, call) == nullptr)
    return false;
  static const char* when = getenv("FAIL_FILES_WHEN");
  const int saved_errno = errno;
  Count();
  const bool now = when == nullptr || access(when, F_OK) == 0;
  errno = saved_errno;
  static std::atomic<long> count{0};
  static const long every = Setting("FAIL_FILES_EVERY", 1);
  if (!now || count.fetch_add(1) % every != every - 1) return false;
  static std::atomic<long> left{Setting("FAIL_FILES_TIMES", LONG_MAX)};
  if (left.fetch_sub(1) <= 0) return false;
  static const long stall_ms = Setting("FAIL_FILES_STALL_MS", 0);
  if (stall_ms > 0) Sleep(stall_ms);
  static const int error = static_cast<int>(Setting("FAIL_FILES_ERROR", 0));
  errno = error != 0 ? error : saved_errno;
  return error != 0;
}

bool FailsOn(int fd, const char* call) {
  const int saved_errno = errno;
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved_errno;
  if (length < 0) return false;
  path[length] = '\0';
  return Fails(call, path);
}

bool WriteFails(int fd) { return FailsOn(fd, "write"); }

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int Open(const char* path, int flags, mode_t mode) {
  static auto next = Next<int (*)(const char*, int, ...)>("open64");
  if (Fails((flags & O_ACCMODE) != O_RDONLY ? "open" : "look", path)) return -1;
  return next(path, flags, mode);
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

EXPORT int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return Open(path, flags, mode);
}

EXPORT int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return Open(path, flags, mode);
}

EXPORT int mkdir(const char* path, mode_t mode) {
  static auto next = Next<int (*)(const char*, mode_t)>("mkdir");
  return Fails("open", path) ? -1 : next(path, mode);
}

EXPORT int link(const char* from, const char* to) {
  static auto next = Next<int (*)(const char*, const char*)>("link");
  return Fails("open", to) ? -1 : next(from, to);
}

EXPORT ssize_t write(int fd, const void* data, size_t bytes) {
  static auto next = Next<ssize_t (*)(int, const void*, size_t)>("write");
  return WriteFails(fd) ? -1 : next(fd, data, bytes);
}

EXPORT ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  static auto next = Next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return WriteFails(fd) ? -1 : next(fd, data, bytes, offset);
}

EXPORT ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  return pwrite(fd, data, bytes, offset);
}

EXPORT int ftruncate(int fd, off_t size) {
  static auto next = Next<int (*)(int, off_t)>("ftruncate");
  return WriteFails(fd) ? -1 : next(fd, size);
}

EXPORT int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

EXPORT int fsync(int fd) {
  static auto next = Next<int (*)(int)>("fsync");
  return FailsOn(fd, "sync") ? -1 : next(fd);
}

EXPORT int fdatasync(int fd) {
  static auto next = Next<int (*)(int)>("fdatasync");
  return FailsOn(fd, "sync") ? -1 : next(fd);
}
