// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace traceinject {
namespace {

constexpr const char* kLog = "-wal";  // SQLite's, beside a file that is written

std::int64_t ChangedAt_ns(const struct stat& status) {
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

JobState StateOf(const JobFiles& job) {
  JobState state;
  for (const std::string& path : job.paths) {
    for (const char* suffix : {"", kLog}) {
      struct stat status = {};
      if (stat((path + suffix).c_str(), &status) != 0) continue;
      if (*suffix == '\0') state.files.emplace_back(status.st_dev, status.st_ino);
      state.changed_ns = std::max(state.changed_ns, ChangedAt_ns(status));
      state.bytes += status.st_size;
    }
  }
  std::sort(state.files.begin(), state.files.end());
  return state;
}

}  // namespace traceinject
