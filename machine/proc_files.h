// SPDX-License-Identifier: Apache-2.0
// Files of /proc and /sys: small, text, and gone at any moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// The whole file. Nothing: it cannot be read, errno says why.
std::optional<std::string> ReadTextFile(const std::string& path);

// What a symbolic link points to; empty: there is none.
std::string ReadLinkText(const std::string& path);

// The names in a folder, without . and ..; nothing: it cannot be read, errno says why.
std::optional<std::vector<std::string>> ListFolder(const std::string& path);

// Without white space at the end, which these files have.
std::string_view TrimEnd(std::string_view text);

// A whole number that is all of `text`, or -1.
std::int64_t WholeNumber(std::string_view text);

// The value of a line "name:   value" of /proc/<pid>/status and the like; empty: there is none.
std::string_view StatusValue(std::string_view text, std::string_view name);

// What we use of /proc/<pid>/stat and /proc/<pid>/task/<tid>/stat.
struct ProcStat {
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t minor_faults = 0, major_faults = 0;
  std::int64_t cpu_ticks = 0;    // user and system
  std::int64_t start_ticks = 0;  // since the machine started: tells processes of one number apart
};
std::optional<ProcStat> ParseProcStat(std::string_view text);

// Length of a tick of these files.
std::int64_t TickNs();

}  // namespace traceinject
