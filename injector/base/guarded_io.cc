// SPDX-License-Identifier: Apache-2.0
#include "injector/base/guarded_io.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <optional>

namespace traceinject {
namespace {

constexpr int kFirstAllowed = 3;

// Device and inode name a file only while it exists: once ours is removed and its descriptors are
// closed, the next file that the program creates often gets the very inode number. The time of
// birth tells them apart.
struct Identity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t birth_ns = 0;  // 0: the file system does not report

  bool operator==(const Identity&) const = default;
};

std::optional<Identity> Identify(int fd) {
  struct statx file;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &file) == 0) {
    const bool born = (file.stx_mask & STATX_BTIME) != 0;
    return Identity{makedev(file.stx_dev_major, file.stx_dev_minor), file.stx_ino,
                    born ? file.stx_btime.tv_sec * 1'000'000'000 + file.stx_btime.tv_nsec : 0};
  }
  struct stat old;  // where statx is not allowed (containers of old versions) it never is
  if (fstat(fd, &old) != 0) return std::nullopt;
  return Identity{old.st_dev, old.st_ino, 0};
}

struct OpenFile {
  int fd = -1;  // -1: free entry
  Identity identity;
  bool may_go = false;  // removed on purpose
};

// One recording needs five (database, log, shared memory, claim, and a directory or random source
// for moments).
class DescriptorTable {
 public:
  bool Add(const OpenFile& file) {
    std::lock_guard lock(mutex_);
    for (OpenFile& entry : entries_) {
      if (entry.fd != -1) continue;
      entry = file;
      return true;
    }
    return false;
  }

  void Remove(int fd) {
    std::lock_guard lock(mutex_);
    for (OpenFile& entry : entries_) {
      if (entry.fd == fd) entry.fd = -1;
    }
  }

  void LetGo(int fd) {
    std::lock_guard lock(mutex_);
    for (OpenFile& entry : entries_) {
      if (fd >= 0 && entry.fd == fd) entry.may_go = true;
    }
  }

  std::optional<OpenFile> Find(int fd) {
    std::lock_guard lock(mutex_);
    for (const OpenFile& entry : entries_) {
      if (fd >= 0 && entry.fd == fd) return entry;
    }
    return std::nullopt;
  }

  std::array<OpenFile, 64> Copy() {
    std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  std::mutex mutex_;
  std::array<OpenFile, 64> entries_;
};

DescriptorTable& Table() {
  static DescriptorTable* table =
      new DescriptorTable;  // never destroyed: exit handlers may still write
  return *table;
}

bool StillSame(const OpenFile& file) { return Identify(file.fd) == file.identity; }

// True if the call may go ahead; else errno is EBADF.
bool Check(int fd) {
  const int saved_errno = errno;
  const std::optional<OpenFile> file = Table().Find(fd);
  if (file && StillSame(*file)) {
    errno = saved_errno;
    return true;
  }
  errno = EBADF;
  return false;
}

// A number below 3, or one whose owner here still believes in it although it was lost, must not be
// used: it is exchanged for another. Closing the first drops the process' POSIX locks on the file,
// so claims are taken again after an open.
int MoveToAllowedNumber(int fd) {
  int lowest = kFirstAllowed;
  int current = fd;
  while (current >= 0 && (current < kFirstAllowed || Table().Find(current))) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (current != fd) close(current);
    current = moved;
    lowest = moved + 1;
  }
  if (current != fd) {
    const int saved_errno = errno;
    close(fd);
    errno = saved_errno;
  }
  return current;
}

// Growing a file beyond the process' limit raises SIGXFSZ, which ends the program.
bool CheckSize(off_t end) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      static_cast<rlim_t>(end) <= limit.rlim_cur) {
    return true;
  }
  errno = EFBIG;
  return false;
}

int OpenCall(const char* path, int flags, int mode) {
  return GuardedOpen(path, flags, static_cast<mode_t>(mode));
}

int FstatCall(int fd, struct stat* out) { return Check(fd) ? fstat(fd, out) : -1; }

int FtruncateCall(int fd, off_t size) {
  return Check(fd) && CheckSize(size) ? ftruncate(fd, size) : -1;
}

bool SetLock(int fd, int command, struct flock lock) {
  const bool whole_file = lock.l_start == 0 && lock.l_len == 0;
  if (lock.l_type == F_UNLCK && whole_file) lock.l_len = kClaimByte;
  return fcntl(fd, command, &lock) == 0;
}

// SQLite's commands take a struct flock pointer (locks), an int (F_SETFD) or nothing (F_GETFD).
int FcntlCall(int fd, int command, ...) {
  if (!Check(fd)) return -1;
  va_list arguments;
  va_start(arguments, command);
  int result;
  if (command == F_SETLK || command == F_SETLKW) {
    result = SetLock(fd, command, *va_arg(arguments, struct flock*)) ? 0 : -1;
  } else if (command == F_GETLK) {
    result = fcntl(fd, command, va_arg(arguments, struct flock*));
  } else if (command == F_GETFD || command == F_GETFL) {
    result = fcntl(fd, command);
  } else {
    result = fcntl(fd, command, va_arg(arguments, int));
  }
  va_end(arguments);
  return result;
}

ssize_t ReadCall(int fd, void* data, size_t bytes) {
  return Check(fd) ? read(fd, data, bytes) : -1;
}

ssize_t PreadCall(int fd, void* data, size_t bytes, off_t offset) {
  return Check(fd) ? pread(fd, data, bytes, offset) : -1;
}

ssize_t WriteCall(int fd, const void* data, size_t bytes) {
  return Check(fd) ? write(fd, data, bytes) : -1;
}

ssize_t PwriteCall(int fd, const void* data, size_t bytes, off_t offset) {
  return Check(fd) && CheckSize(offset + static_cast<off_t>(bytes))
             ? pwrite(fd, data, bytes, offset)
             : -1;
}

int FchmodCall(int fd, mode_t mode) { return Check(fd) ? fchmod(fd, mode) : -1; }

int FchownCall(int fd, uid_t user, gid_t group) { return Check(fd) ? fchown(fd, user, group) : -1; }

void* MmapCall(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return Check(fd) ? mmap(address, bytes, protection, flags, fd, offset) : MAP_FAILED;
}

bool Install() {
  static_assert(sizeof(off_t) == 8, "pread64 and pread must be the same call");
  sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
  if (vfs == nullptr || vfs->iVersion < 3) return false;
  const auto call = [](auto* function) { return reinterpret_cast<sqlite3_syscall_ptr>(function); };
  const struct {
    const char* name;
    sqlite3_syscall_ptr function;
  } calls[] = {
      {"open", call(&OpenCall)},       {"close", call(&GuardedClose)},
      {"fstat", call(&FstatCall)},     {"ftruncate", call(&FtruncateCall)},
      {"fcntl", call(&FcntlCall)},     {"read", call(&ReadCall)},
      {"pread", call(&PreadCall)},     {"pread64", call(&PreadCall)},
      {"write", call(&WriteCall)},     {"pwrite", call(&PwriteCall)},
      {"pwrite64", call(&PwriteCall)}, {"fchmod", call(&FchmodCall)},
      {"fchown", call(&FchownCall)},   {"mmap", call(&MmapCall)},
  };
  for (const auto& entry : calls) {
    // A build of SQLite has either pread or pread64; what it lacks it never calls.
    if (vfs->xGetSystemCall(vfs, entry.name) == nullptr) continue;
    if (vfs->xSetSystemCall(vfs, entry.name, entry.function) != SQLITE_OK) return false;
  }
  return true;
}

}  // namespace

bool InstallGuardedIo() noexcept {
  static const bool installed = Install();
  return installed;
}

int GuardedOpen(const char* path, int flags, mode_t mode) noexcept {
  const int opened = open(path, flags | O_CLOEXEC, mode);
  if (opened < 0) return -1;
  const int fd = MoveToAllowedNumber(opened);
  if (fd < 0) return -1;
  const std::optional<Identity> identity = Identify(fd);
  if (!identity || !Table().Add({fd, *identity})) {
    close(fd);
    errno = EMFILE;
    return -1;
  }
  return fd;
}

bool GuardedIsOurs(int fd) noexcept {
  const std::optional<OpenFile> file = Table().Find(fd);
  return file && StillSame(*file);
}

void GuardedExpectRemoved(int fd) noexcept { Table().LetGo(fd); }

int GuardedClose(int fd) noexcept {
  const bool ours = GuardedIsOurs(fd);
  Table().Remove(fd);
  return ours ? close(fd) : 0;
}

bool DescriptorsLost() noexcept {
  for (const OpenFile& file : Table().Copy()) {
    struct stat now;
    if (file.fd == -1 || file.may_go) continue;
    if (!StillSame(file) || fstat(file.fd, &now) != 0 || now.st_nlink == 0) return true;
  }
  return false;
}

}  // namespace traceinject
