// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/libraries/nccl_log.h"

#include <strings.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <utility>

namespace traceinject::fake {
namespace {

enum Level { kNone, kVersion, kWarn, kInfo };

std::string Host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string host = name;
  return host.substr(0, host.find('.'));
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Log {
  Level level = kNone;
  unsigned subsystems = kNcclInit;
  std::string host = Host();
  std::FILE* file = stdout;

  Log() {
    const std::string wanted = Variable("NCCL_DEBUG");
    const char* const names[] = {"", "VERSION", "WARN", "INFO"};
    for (int i = kVersion; i <= kInfo; ++i) {
      if (strcasecmp(wanted.c_str(), names[i]) == 0) level = static_cast<Level>(i);
    }
    ReadSubsystems();
    const std::string path = Path(Variable("NCCL_DEBUG_FILE"));
    if (level <= kVersion || path.empty()) return;
    if (std::FILE* opened = std::fopen(path.c_str(), "w")) file = opened;
    setlinebuf(file);
  }

  void ReadSubsystems() {
    std::istringstream words(Variable("NCCL_DEBUG_SUBSYS"));
    const std::pair<const char*, unsigned> known[] = {{"INIT", kNcclInit},
                                                      {"P2P", kNcclP2p},
                                                      {"SHM", kNcclShm},
                                                      {"NET", kNcclNet},
                                                      {"GRAPH", kNcclGraph}};
    unsigned found = 0;
    for (std::string word; std::getline(words, word, ',');) {
      for (const auto& [name, bit] : known) found |= word == name ? bit : 0;
    }
    if (found != 0) subsystems = found;
  }

  std::string Path(const std::string& pattern) const {
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '%' || i + 1 == pattern.size()) {
        path += pattern[i];
        continue;
      }
      const char what = pattern[++i];
      path += what == 'h'   ? host
              : what == 'p' ? std::to_string(getpid())
              : what == '%' ? "%"
                            : std::string("%") + what;
    }
    return path;
  }
};

std::mutex g_mutex;

Log& TheLog() {
  static Log* log = new Log;  // exit handlers may still write
  return *log;
}

}  // namespace

void WriteNcclLog(unsigned subsystems, const std::string& text) {
  const std::lock_guard lock(g_mutex);
  const Log& log = TheLog();
  if (log.level < kInfo || (log.subsystems & subsystems) == 0) return;
  std::fprintf(log.file, "%s:%d:%d [0] NCCL INFO %s\n", log.host.c_str(), getpid(), gettid(),
               text.c_str());
  std::fflush(log.file);
}

void WriteNcclVersion() {
  const std::lock_guard lock(g_mutex);
  const Log& log = TheLog();
  static bool shown = false;
  if (log.level == kNone || log.level == kInfo || std::exchange(shown, true)) return;
  std::fprintf(log.file, "NCCL version 2.28.9+cuda13.0\n");
  std::fflush(log.file);
}

}  // namespace traceinject::fake
