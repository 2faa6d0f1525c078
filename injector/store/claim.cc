// SPDX-License-Identifier: Apache-2.0
#include "injector/store/claim.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "injector/base/guarded_io.h"

namespace traceinject {
namespace {

// Less the umask. A recording names hosts, paths and arguments: it is the user's own.
constexpr mode_t kFileMode = 0600;
constexpr const char* kSidecars[] = {"-wal", "-shm", "-journal"};
// Newcomers that race for one name need a few rounds; more means that the file system plays tricks.
constexpr int kMaxRounds = 1000;
constexpr int kMaxAside = 100000;

enum class Outcome { kDone, kTaken, kRetry, kFailed };

struct Claimed {
  int fd = -1;
  dev_t device = 0;
  ino_t inode = 0;
};

// A process' own POSIX locks do not stop it, so what it holds is kept here. With the pid: a forked
// child has a copy of the list but holds nothing.
struct Held {
  pid_t pid;
  dev_t device;
  ino_t inode;
};

struct HeldList {
  std::mutex mutex;
  std::vector<Held> files;
};

HeldList& OwnClaims() {
  static HeldList* list = new HeldList;  // never destroyed: exit handlers may still write
  return *list;
}

bool HeldByThisProcess(const struct stat& file) {
  const pid_t pid = getpid();
  for (const Held& held : OwnClaims().files) {
    if (held.pid == pid && held.device == file.st_dev && held.inode == file.st_ino) return true;
  }
  return false;
}

Outcome Fail(const std::string& path, const char* what, int error, std::string* why) {
  *why = path + ": " + what + ": " + std::strerror(error);
  return Outcome::kFailed;
}

bool Lock(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kClaimByte;
  lock.l_len = 1;
  return fcntl(fd, F_SETLK, &lock) == 0;
}

bool HeldByAnother(int error) { return error == EAGAIN || error == EACCES; }

bool Exists(const std::string& path) {
  struct stat file;
  return lstat(path.c_str(), &file) == 0;
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool IsFile(const std::string& path, const struct stat& file) {
  struct stat now;
  return lstat(path.c_str(), &now) == 0 && SameFile(now, file);
}

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Where link(2) does not exist: the name is seen unlocked for a moment, in which a newcomer may
// take the empty file for a dead one.
Outcome CreateUnlinked(const std::string& path, Claimed* claimed, std::string* why) {
  const int fd = GuardedOpen(path.c_str(), O_RDWR | O_CREAT | O_EXCL, kFileMode);
  if (fd < 0) {
    return errno == EEXIST ? Outcome::kTaken
                           : Fail(path, "cannot create the recording", errno, why);
  }
  if (!Lock(fd)) {
    const int error = errno;
    GuardedClose(fd);
    return HeldByAnother(error) ? Outcome::kRetry
                                : Fail(path, "cannot lock the recording", error, why);
  }
  struct stat file;
  if (fstat(fd, &file) == 0 && IsFile(path, file)) {
    *claimed = {fd, file.st_dev, file.st_ino};
    return Outcome::kDone;
  }
  GuardedClose(fd);
  return Outcome::kRetry;
}

bool LinksUnsupported(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == EMLINK || error == ENOSYS;
}

// Random, since containers that share a folder often agree in their pids and start together.
std::string TemporaryName(const std::string& path) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    random = static_cast<std::uint64_t>(now.tv_sec * 1000000000 + now.tv_nsec);
  }
  return Folder(path) + "." + BaseName(path) + "." + std::to_string(getpid()) + "." +
         std::to_string(random) + ".tmp";
}

// Creates the file under a temporary name, locks it, and only then gives it the wanted name. kTaken
// if that exists.
Outcome Create(const std::string& path, Claimed* claimed, std::string* why) {
  const std::string temporary = TemporaryName(path);
  const int fd = GuardedOpen(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL, kFileMode);
  if (fd < 0 && errno == EEXIST) return Outcome::kRetry;
  if (fd < 0) return Fail(path, "cannot create the recording", errno, why);
  struct stat file {};
  const bool locked = fstat(fd, &file) == 0 && Lock(fd);
  const int lock_error = errno;
  const bool linked = locked && link(temporary.c_str(), path.c_str()) == 0;
  const int link_error = errno;
  unlink(temporary.c_str());
  if (linked) {
    *claimed = {fd, file.st_dev, file.st_ino};
    return Outcome::kDone;
  }
  GuardedClose(fd);
  if (!locked) return Fail(path, "cannot lock the recording", lock_error, why);
  if (link_error == EEXIST) return Outcome::kTaken;
  if (LinksUnsupported(link_error)) return CreateUnlinked(path, claimed, why);
  return Fail(path, "cannot create the recording", link_error, why);
}

// True if `path`.`number` can take the dead file: nothing of that name stands there, but for a link
// to the very same file that an interrupted move left, which is then completed.
bool FreeAside(const std::string& aside, const std::string& path, const struct stat& dead) {
  if (Exists(aside) && !IsFile(aside, dead)) return false;
  const bool resumed = Exists(aside);
  for (const char* sidecar : kSidecars) {
    if (Exists(aside + sidecar) && !(resumed && !Exists(path + sidecar))) return false;
  }
  return true;
}

// Renames without overwriting. The target was seen free, and movers of one dead file are serialized
// by its lock; where the file system lacks RENAME_NOREPLACE that has to do.
bool MoveFile(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return !Exists(to) && rename(from.c_str(), to.c_str()) == 0;
}

// Moves the dead file, which we hold locked, and its sidecars. The second name is given first and
// the old one removed last: a move that is interrupted leaves both names on one file, and the next
// newcomer completes it.
Outcome MoveAside(const std::string& path, const struct stat& dead, std::string* why) {
  std::string aside;
  for (int number = 1; number <= kMaxAside && aside.empty(); ++number) {
    const std::string candidate = path + "." + std::to_string(number);
    if (FreeAside(candidate, path, dead)) aside = candidate;
  }
  if (aside.empty()) return Fail(path, "no free name for renaming this older file", EEXIST, why);

  const bool linked = IsFile(aside, dead) || link(path.c_str(), aside.c_str()) == 0;
  if (!linked && errno == EEXIST) return Outcome::kRetry;
  for (const char* sidecar : kSidecars) {
    if (!Exists(path + sidecar)) continue;
    if (!MoveFile(path + sidecar, aside + sidecar)) {
      return Fail(path + sidecar, "cannot move this older file aside", errno, why);
    }
  }
  if (linked ? unlink(path.c_str()) == 0 : MoveFile(path, aside)) return Outcome::kRetry;
  return Fail(path, "cannot move this older file aside", errno, why);
}

// The name exists: is its owner alive? kRetry once the name was freed (or vanished), kTaken if it
// must be left alone.
Outcome FreeName(const std::string& path, std::string* why) {
  struct stat named;
  if (lstat(path.c_str(), &named) != 0) return Outcome::kRetry;
  if (!S_ISREG(named.st_mode)) {
    *why = path + ": exists and is not a regular file: set TRACEINJECT_OUTPUT to another path";
    return Outcome::kFailed;
  }
  // Before any open: closing a descriptor of our own recording would drop its locks.
  if (HeldByThisProcess(named)) return Outcome::kTaken;
  const int fd = GuardedOpen(path.c_str(), O_RDWR | O_NOFOLLOW, 0);
  if (fd < 0) return errno == ENOENT ? Outcome::kRetry : Outcome::kTaken;  // not ours to move
  Outcome outcome = Outcome::kRetry;
  struct stat opened {};
  if (!Lock(fd)) {
    outcome = HeldByAnother(errno) ? Outcome::kTaken
                                   : Fail(path, "cannot lock this older file", errno, why);
  } else if (fstat(fd, &opened) == 0 && IsFile(path, opened)) {
    outcome = MoveAside(path, opened, why);
  }
  GuardedClose(fd);
  return outcome;
}

Outcome TakeName(const std::string& path, Claimed* claimed, std::string* why) {
  for (int round = 0; round < kMaxRounds; ++round) {
    Outcome outcome = Create(path, claimed, why);
    if (outcome == Outcome::kTaken) outcome = FreeName(path, why);
    if (outcome != Outcome::kRetry) return outcome;
  }
  *why = path + ": other processes kept taking this name";
  return Outcome::kFailed;
}

// The names to try in turn: as wanted, with the pid, and then numbered (several recordings of one
// process, or a pid that lives twice: in two containers, or on two hosts of one network file
// system).
std::string Candidate(const std::string& wanted, int attempt) {
  if (attempt == 0) return wanted;
  std::string mark = ".p";
  mark += std::to_string(getpid());
  if (attempt > 1) mark.append(".").append(std::to_string(attempt));
  const std::size_t component = wanted.rfind('/') + 1;
  const std::size_t dot = wanted.rfind('.');
  const bool extension = dot != std::string::npos && dot > component;
  std::string name = wanted;
  return name.insert(extension ? dot : wanted.size(), mark);
}

bool MakeAbsolute(const std::string& path, std::string* absolute, std::string* why) {
  if (path.empty() || path.back() == '/') {
    *why = "'" + path + "': not a file name: set TRACEINJECT_OUTPUT to a path such as run.db";
    return false;
  }
  if (path.front() == '/') {
    *absolute = path;
    return true;
  }
  char folder[4096];
  if (getcwd(folder, sizeof folder) == nullptr) {
    Fail(path, "the working directory is unknown", errno, why);
    return false;
  }
  *absolute = std::string(folder) + "/" + path;
  return true;
}

}  // namespace

bool MakeFolders(const std::string& folder, std::string* why) {
  for (std::size_t slash = folder.find('/', 1); slash != std::string::npos;
       slash = folder.find('/', slash + 1)) {
    const std::string part = folder.substr(0, slash);
    struct stat existing;
    if (mkdir(part.c_str(), 0777) == 0 || errno == EEXIST) continue;
    const int error = errno;
    if (stat(part.c_str(), &existing) == 0 && S_ISDIR(existing.st_mode)) continue;
    Fail(part, "cannot create the recording's folder", error, why);
    return false;
  }
  return true;
}

Claim::Claim(std::string path, int fd, dev_t device, ino_t inode)
    : path_(std::move(path)), fd_(fd), device_(device), inode_(inode) {}

std::unique_ptr<Claim> Claim::Take(const std::string& wanted_path, std::string* why) {
  constexpr int kMaxCandidates = 1000;
  try {
    std::string wanted;
    if (!MakeAbsolute(wanted_path, &wanted, why) || !MakeFolders(Folder(wanted), why)) {
      return nullptr;
    }
    std::lock_guard lock(OwnClaims().mutex);
    for (int attempt = 0; attempt < kMaxCandidates; ++attempt) {
      const std::string path = Candidate(wanted, attempt);
      Claimed claimed;
      const Outcome outcome = TakeName(path, &claimed, why);
      if (outcome == Outcome::kFailed) return nullptr;
      if (outcome != Outcome::kDone) continue;
      OwnClaims().files.push_back({getpid(), claimed.device, claimed.inode});
      return std::unique_ptr<Claim>(new Claim(path, claimed.fd, claimed.device, claimed.inode));
    }
    *why = wanted + ": this name and those derived from it are all in use";
  } catch (const std::exception&) {
    *why = "out of memory";  // short enough to need none
  }
  return nullptr;
}

Claim::~Claim() {
  GuardedClose(fd_);
  std::lock_guard lock(OwnClaims().mutex);
  std::erase_if(OwnClaims().files, [this](const Held& held) {
    return held.pid == getpid() && held.device == device_ && held.inode == inode_;
  });
}

bool Claim::NameIsOurs() const {
  struct stat now;
  return stat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

bool Claim::Retake() { return NameIsOurs() && LockAgain(); }

bool Claim::LockAgain() {
  if (!GuardedIsOurs(fd_)) {
    GuardedClose(fd_);
    fd_ = GuardedOpen(path_.c_str(), O_RDWR | O_NOFOLLOW, 0);
    struct stat opened;
    if (fd_ < 0 || fstat(fd_, &opened) != 0) return false;
    if (opened.st_dev != device_ || opened.st_ino != inode_) {
      GuardedClose(fd_);
      fd_ = -1;
      return false;
    }
  }
  return Lock(fd_);
}

std::int64_t Claim::bytes() const {
  struct stat now;
  const bool known = GuardedIsOurs(fd_) && fstat(fd_, &now) == 0;
  return known ? static_cast<std::int64_t>(now.st_size) : -1;
}

void Claim::Discard() {
  if (!NameIsOurs()) return;
  for (const char* sidecar : kSidecars) unlink((path_ + sidecar).c_str());
  unlink(path_.c_str());
}

}  // namespace traceinject
