// SPDX-License-Identifier: Apache-2.0
#include "injector/store/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "injector/base/guarded_io.h"
#include "injector/store/claim.h"

namespace traceinject {
namespace {

constexpr mode_t kSpoolMode = 0600;  // as recordings have it
constexpr std::size_t kChunkBytes = 1 << 20;

std::string FolderOfSpool(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// `name` before the extension of the last component.
std::string Marked(const std::string& path, const std::string& name) {
  const std::string base = path.substr(path.rfind('/') + 1);
  const std::size_t dot = base.rfind('.');
  const bool extension = dot != std::string::npos && dot != 0;
  return extension ? base.substr(0, dot) + name + base.substr(dot) : base + name;
}

class File {
 public:
  File(const std::string& path, int flags) : File(GuardedOpen(path.c_str(), flags, kSpoolMode)) {}
  // A file that was not there. Others may write to the folder, too, and have left a link of that
  // name to a file of the user's; only a plain file of the user's own, as a process of ours may
  // have left it when it died, is put out of the way.
  static File New(const std::string& path) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    const int fd = GuardedOpen(path.c_str(), kFlags, kSpoolMode);
    if (fd >= 0 || errno != EEXIST || !IsPlainAndOurs(path) || unlink(path.c_str()) != 0)
      return File(fd);
    return File(GuardedOpen(path.c_str(), kFlags, kSpoolMode));
  }
  ~File() { Close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  // Bytes that were read; -1 with errno.
  ssize_t Read(char* to, std::size_t bytes) const { return Ours() ? read(fd_, to, bytes) : -1; }
  // False with errno.
  bool Write(const char* from, std::size_t bytes) const {
    while (bytes != 0) {
      const ssize_t written = Ours() ? write(fd_, from, bytes) : -1;
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
    return true;
  }
  bool Sync() const { return Ours() && fsync(fd_) == 0; }
  // Network file systems tell of some errors only now.
  bool Close() {
    const bool closed = fd_ < 0 || GuardedClose(fd_) == 0;
    fd_ = -1;
    return closed;
  }

 private:
  explicit File(int fd) : fd_(fd) {}
  // Leaves errno as it is.
  static bool IsPlainAndOurs(const std::string& path) {
    const int saved_errno = errno;
    struct stat about;
    const bool ours = lstat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
                      about.st_uid == geteuid() && about.st_nlink == 1;
    errno = saved_errno;
    return ours;
  }
  // The program may have closed it, and have another file of that number by now.
  bool Ours() const {
    if (GuardedIsOurs(fd_)) return true;
    errno = EBADF;
    return false;
  }

  int fd_;
};

// False with errno; ETIME: it may not go on.
bool CopyFile(const std::string& from, const std::string& to,
              const std::function<bool()>& may_go_on) {
  const File source(from, O_RDONLY | O_NOFOLLOW);
  if (!source.is_open()) return false;
  File copy = File::New(to);
  if (!copy.is_open()) return false;
  std::vector<char> chunk(kChunkBytes);
  for (;;) {
    if (!may_go_on()) return errno = ETIME, false;
    const ssize_t bytes = source.Read(chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 || !copy.Write(chunk.data(), static_cast<std::size_t>(bytes))) return false;
    if (bytes == 0) return copy.Sync() && copy.Close();
  }
}

bool OnOneFileSystem(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev;
}

// So that a name that was just given survives the machine.
void SyncFolder(const std::string& folder) {
  const File opened(folder, O_RDONLY | O_DIRECTORY);
  if (opened.is_open()) opened.Sync();
}

}  // namespace

Spool::Spool(const std::string& folder, std::string target, const std::string& host,
             std::int64_t pid, std::int64_t start)
    : target_(std::move(target)) {
  std::string mark = "." + host + ".p" + std::to_string(pid) + "." + std::to_string(start);
  for (char& letter : mark) {
    if (letter == '/') letter = '_';
  }
  path_ = folder + (folder.back() == '/' ? "" : "/") + Marked(target_, mark);
  note_ = target_ + mark + ".spool";
  line_ = host + ":" + path_ + "\n";
}

void Spool::Announce() const {
  std::string ignored;
  MakeFolders(FolderOfSpool(target_), &ignored);
  const File note = File::New(note_);
  if (note.is_open()) note.Write(line_.data(), line_.size());
}

bool Spool::Deliver(const std::function<bool()>& may_go_on, std::string* where,
                    std::string* why) const {
  try {
    const auto fail = [&](const char* what) {
      *why = target_ + ": " + what + ": " + std::strerror(errno);
      return false;
    };
    const std::string part = note_ + ".part";
    const bool copies = !OnOneFileSystem(path_, FolderOfSpool(target_));
    if (copies && !CopyFile(path_, part, may_go_on)) {
      fail("cannot copy the recording there");
      if (errno != EEXIST) unlink(part.c_str());  // else it is not ours
      return false;
    }
    const std::unique_ptr<Claim> claim = Claim::Take(target_, why);
    const bool moved = claim != nullptr &&
                       (rename(copies ? part.c_str() : path_.c_str(), claim->path().c_str()) == 0 ||
                        fail("cannot move the recording there"));
    if (!moved) {
      if (claim != nullptr) claim->Discard();
      if (copies) unlink(part.c_str());
      return false;
    }
    SyncFolder(FolderOfSpool(target_));
    *where = claim->path();
    if (copies) unlink(path_.c_str());
    unlink(note_.c_str());
    return true;
  } catch (const std::exception&) {
    *why = "out of memory";  // short enough to need none
  }
  return false;
}

}  // namespace traceinject
