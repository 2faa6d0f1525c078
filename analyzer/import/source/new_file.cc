// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "analyzer/common/private_file.h"

namespace traceinject {
namespace {

bool IsOfUser(const struct stat& about) { return about.st_uid == geteuid(); }

// These are links to what this process has open, which may be a file that a shell appends to.
bool IsOwnStream(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

// A plain file, no link, of this user.
bool IsOwnFile(const std::string& path, struct stat* about) {
  return lstat(path.c_str(), about) == 0 && S_ISREG(about->st_mode) && IsOfUser(*about);
}

mode_t ModeAt(const std::string& path) {
  struct stat about = {};
  return IsOwnFile(path, &about) ? about.st_mode & 0777U : kPrivateFileMode;
}

std::string NameBeside(const std::string& path) { return path + ".part-XXXXXX"; }

int WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t count = write(fd, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    data.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

WriteFailure WriteTo(int fd, std::string_view data) {
  if (fd < 0) return {errno, false};
  const int error = WriteAll(fd, data);
  // A full disk often shows only now.
  const int closed = close(fd) == 0 ? 0 : errno;
  return {error != 0 ? error : closed, true};
}

// The name cannot be given to another file: no right to the folder, or one file of it is mounted.
bool IsAboutFolder(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
}

// Checked once it is open: what has the name may have changed.
WriteFailure WriteOver(const std::string& path, std::string_view data, int why) {
  struct stat about = {};
  if (!IsOwnFile(path, &about)) return {why, false};
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const bool is_own =
      fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && IsOfUser(about);
  if (is_own && ftruncate(fd, 0) == 0) return WriteTo(fd, data);
  if (fd >= 0) close(fd);
  return {why, false};
}

}  // namespace

bool IsWrittenInPlace(const std::string& path) {
  struct stat named = {}, about = {};
  if (IsOwnStream(path)) return true;
  if (lstat(path.c_str(), &named) != 0 || stat(path.c_str(), &about) != 0) return false;
  if (S_ISREG(about.st_mode)) return false;
  return !S_ISLNK(named.st_mode) || IsOfUser(named) || named.st_uid == 0;
}

int OpenInPlace(const std::string& path) {
  // A shell may append to the file behind /dev/stdout, which is not cut then.
  const int cut = IsOwnStream(path) ? O_APPEND : O_TRUNC;
  return open(path.c_str(), O_WRONLY | cut | O_CLOEXEC | O_NOCTTY);
}

NewFile::NewFile(const std::string& path)
    : path_(path),
      beside_(NameBeside(path)),
      file_(removed_.Make(beside_)),
      there_(file_.valid()) {}

NewFile::~NewFile() {
  if (!there_) return;
  unlink(beside_.c_str());
  removed_.Keep();
}

bool NewFile::TakePlace() {
  if (fchmod(file_.get(), ModeAt(path_)) != 0 || fsync(file_.get()) != 0 ||
      std::rename(beside_.c_str(), path_.c_str()) != 0)
    return false;
  there_ = false;
  removed_.Keep();
  return true;
}

WriteFailure WriteWhole(const std::string& path, std::string_view data) {
  if (IsWrittenInPlace(path)) return WriteTo(OpenInPlace(path), data);
  NewFile file(path);
  if (file.descriptor() < 0) {
    const int error = errno;
    return IsAboutFolder(error) ? WriteOver(path, data, error) : WriteFailure{error, false};
  }
  const int error = WriteAll(file.descriptor(), data);
  if (error != 0) return {error, true};
  if (file.TakePlace()) return {};
  const int why = errno;
  return IsAboutFolder(why) ? WriteOver(path, data, why) : WriteFailure{why, why != EISDIR};
}

}  // namespace traceinject
