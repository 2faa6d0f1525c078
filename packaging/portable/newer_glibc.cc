// SPDX-License-Identifier: Apache-2.0
// What glibc has only since versions above the floor (cmake/portable.cmake) and what portable
// programs are linked with instead: the linker names what is missing here.
// injector/preload/compatibility.cc has the rest. Hidden: no other library is to find them.
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "packaging/portable/timed_waits.h"

namespace {

int StatAt(int folder, const char* path, void* result, int flags) {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, result, flags));
}

constexpr long kSecondNs = 1'000'000'000;

// The time of day at `end`.
timespec OnRealtime(clockid_t clock, const timespec& end) {
  if (clock == CLOCK_REALTIME) return end;
  timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  long ns = real.tv_nsec + end.tv_nsec - now.tv_nsec;
  timespec result{real.tv_sec + end.tv_sec - now.tv_sec, 0};
  for (; ns < 0; ns += kSecondNs) --result.tv_sec;
  for (; ns >= kSecondNs; ns -= kSecondNs) ++result.tv_sec;
  result.tv_nsec = ns;
  return result;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(hidden)

// 2.25.
ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  return syscall(SYS_getrandom, bytes, size, flags);
}
int getentropy(void* bytes, size_t size) {
  constexpr size_t kMost = 256;  // up to which the kernel gives all at once
  if (size > kMost) {
    errno = EIO;
    return -1;
  }
  long given;
  do {
    given = syscall(SYS_getrandom, bytes, size, 0);
  } while (given < 0 && errno == EINTR);
  return given == static_cast<long>(size) ? 0 : -1;
}

// 2.28. Where the kernel lacks one, errno is ENOSYS, which callers take for an answer.
int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(file, command, argument);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* result) noexcept {
  return static_cast<int>(syscall(SYS_statx, folder, path, flags, mask, result));
}

// 2.30.
pid_t gettid() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Nobody can try: this one does wait for a time of day. A timeout that came early is a spurious
// wake-up: the mutex was free in between, and a signal then must not be slept through.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  const timespec real = OnRealtime(clock, *end);
  const int result = pthread_cond_timedwait(condition, mutex, &real);
  return result == ETIMEDOUT && !IsPast(clock, *end) ? 0 : result;
}

// 2.32. Without the promise libstdc++ counts references atomically, which is always right.
char __libc_single_threaded = 0;

// 2.33. Before, programs had these from an archive.
int stat(const char* path, struct stat* result) noexcept {
  return StatAt(AT_FDCWD, path, result, 0);
}
int stat64(const char* path, struct stat64* result) noexcept {
  return StatAt(AT_FDCWD, path, result, 0);
}
int lstat(const char* path, struct stat* result) noexcept {
  return StatAt(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int lstat64(const char* path, struct stat64* result) noexcept {
  return StatAt(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* result) noexcept {
  return static_cast<int>(syscall(SYS_fstat, file, result));
}
int fstat64(int file, struct stat64* result) noexcept {
  return static_cast<int>(syscall(SYS_fstat, file, result));
}

// 2.34.
int close_range(unsigned first, unsigned last, int flags) noexcept {
  return static_cast<int>(syscall(SYS_close_range, first, last, flags));
}

#pragma GCC visibility pop
}  // extern "C"
