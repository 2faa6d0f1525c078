// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "tests/fake_gpu/simulator/settings.h"

namespace traceinject::fake {
namespace {

// The program under test may close all descriptors and open its own files under the same numbers,
// so the descriptor is checked before each use, by system calls of our own: ThreadSanitizer would
// take the program's close for a race with us. Leaked on purpose: lines are still written while the
// process is being torn down.
struct TruthFile {
  std::mutex mutex;
  int descriptor = -1;
  pid_t owner = 0;
  dev_t device = 0;
  ino_t inode = 0;

  bool Usable() const {
    struct stat now {};
    return descriptor >= 0 && owner == getpid() && syscall(SYS_fstat, descriptor, &now) == 0 &&
           now.st_dev == device && now.st_ino == inode;
  }

  bool Open() {
    std::string path = SettingText("FAKE_GPU_TRUTH", "");
    if (path.empty()) return false;
    if (std::size_t at = path.find("%p"); at != std::string::npos) {
      path.replace(at, 2, std::to_string(getpid()));
    }
    descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(),
                                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    struct stat now {};
    if (descriptor < 0 || syscall(SYS_fstat, descriptor, &now) != 0) {
      std::fprintf(stderr, "fake GPU: cannot write the truth to %s\n", path.c_str());
      std::abort();
    }
    owner = getpid();
    device = now.st_dev;
    inode = now.st_ino;
    return true;
  }
};

TruthFile& File() {
  static auto* file = [] {
    // Another thread may be writing a line when the process forks; the child must find the lock
    // free.
    pthread_atfork([] { File().mutex.lock(); }, [] { File().mutex.unlock(); },
                   [] { File().mutex.unlock(); });
    return new TruthFile;
  }();
  return *file;
}

}  // namespace

bool TruthWanted() {
  static const bool wanted = !SettingText("FAKE_GPU_TRUTH", "").empty();
  return wanted;
}

TruthLine::TruthLine(std::string_view type) { Text("t", type); }

void TruthLine::Key(std::string_view key) {
  line_ += line_.empty() ? "{\"" : ",\"";
  line_ += key;
  line_ += "\":";
}

TruthLine& TruthLine::Number(std::string_view key, std::int64_t value) {
  Key(key);
  line_ += std::to_string(value);
  return *this;
}

TruthLine& TruthLine::Real(std::string_view key, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  Key(key);
  line_ += text;
  return *this;
}

TruthLine& TruthLine::Text(std::string_view key, std::string_view value) {
  Key(key);
  line_ += '"';
  for (char c : value) {
    if (c == '"' || c == '\\') line_ += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      line_ += escaped;
    } else {
      line_ += c;
    }
  }
  line_ += '"';
  return *this;
}

TruthLine& TruthLine::Bool(std::string_view key, bool value) {
  Key(key);
  line_ += value ? "true" : "false";
  return *this;
}

TruthLine& TruthLine::Triple(std::string_view key, const std::int32_t (&values)[3]) {
  Key(key);
  line_ += '[' + std::to_string(values[0]) + ',' + std::to_string(values[1]) + ',' +
           std::to_string(values[2]) + ']';
  return *this;
}

void TruthLine::Write() {
  if (!TruthWanted()) return;
  line_ += "}\n";
  TruthFile& file = File();
  std::lock_guard lock(file.mutex);
  if (!file.Usable() && !file.Open()) return;
  if (syscall(SYS_write, file.descriptor, line_.data(), line_.size()) !=
      static_cast<long>(line_.size())) {
    std::fprintf(stderr, "fake GPU: cannot write the truth\n");
    std::abort();
  }
}

}  // namespace traceinject::fake
