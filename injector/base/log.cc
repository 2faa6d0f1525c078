// SPDX-License-Identifier: Apache-2.0
#include "injector/base/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "injector/base/clock.h"
#include "injector/base/guarded_io.h"

namespace traceinject {
namespace {

// /dev/stderr is a link. Another user's would have us write to a file that he chose.
bool MayFollow(const char* path) {
  struct stat link {};
  return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) &&
         (link.st_uid == geteuid() || link.st_uid == 0);
}

bool IsFit(int file) {
  struct stat about {};
  if (fstat(file, &about) != 0) return false;
  const bool is_own_file =
      S_ISREG(about.st_mode) && about.st_uid == geteuid() && about.st_nlink == 1;
  return is_own_file || S_ISCHR(about.st_mode);
}

// -1: nobody, but this user, is to decide what is written where, or to wait for. A pipe would hold
// up the program, and end it by a signal once its reader is gone.
int OpenLog(const char* path) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY;
  const int file = GuardedOpen(path, flags | (MayFollow(path) ? 0 : O_NOFOLLOW), 0600);
  if (file < 0 || IsFit(file)) return file;
  GuardedClose(file);
  return -1;
}

}  // namespace

void Log::Open(const Options& options) {
  if (options.log.empty()) return;
  path_ = options.log;
  Line("traceinject in process " + std::to_string(getpid()) + "; options (environment variables):");
  for (const OptionInfo& option : ListOptions()) {
    std::string value(option.default_value);
    for (const Options::Changed& changed : options.changed) {
      if (changed.name == option.name) value = changed.value;
    }
    Line("  " + std::string(option.name) + "=" + value + "  (default " +
         std::string(option.default_value) + ") " + std::string(option.help));
  }
  for (const std::string& sentence : options.invalid) Line(sentence);
  for (const std::string& name : options.unknown) Line(name + " is not a traceinject option");
}

void Log::Line(const std::string& text) {
  if (path_.empty()) return;
  // Opened for each line: a descriptor that stays open might be closed by the program and its
  // number used for another file.
  const int file = OpenLog(path_.c_str());
  if (file < 0) return;
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "%.6f ", static_cast<double>(NowNs()) * 1e-9);
  const std::string line = stamp + text + "\n";
  if (GuardedIsOurs(file)) {
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  }
  GuardedClose(file);
}

}  // namespace traceinject
