// SPDX-License-Identifier: Apache-2.0
#include "injector/core/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "injector/core/clock.h"

namespace traceinject {

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
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "%.6f ", static_cast<double>(NowNs()) * 1e-9);
  const std::string line = stamp + text + "\n";
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace traceinject
