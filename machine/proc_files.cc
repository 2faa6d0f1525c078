// SPDX-License-Identifier: Apache-2.0
#include "machine/proc_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <climits>

namespace traceinject {

std::optional<std::string> ReadTextFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t length = 0;
  while ((length = read(file, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(length));
  const int error = errno;
  close(file);
  errno = error;
  if (length < 0) return std::nullopt;
  return text;
}

std::string ReadLinkText(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), buffer, sizeof buffer);
  return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string();
}

std::optional<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  return names;
}

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\0'))
    text.remove_suffix(1);
  return text;
}

std::int64_t WholeNumber(std::string_view text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::string_view StatusValue(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
      return value == std::string_view::npos ? std::string_view() : TrimEnd(line.substr(value));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');  // the name before it may hold anything
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view fields[23] = {};
  std::size_t at = name_end + 1;
  for (int field = 3; field <= 22; ++field) {
    at = text.find_first_not_of(' ', at);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    fields[field] = text.substr(at, end - at);
    at = end;
  }
  ProcStat stat;
  stat.state = fields[3].front();
  stat.parent = WholeNumber(fields[4]);
  stat.minor_faults = WholeNumber(fields[10]);
  stat.major_faults = WholeNumber(fields[12]);
  stat.cpu_ticks = WholeNumber(fields[14]) + WholeNumber(fields[15]);
  stat.start_ticks = WholeNumber(fields[22]);
  return stat;
}

std::int64_t TickNs() {
  static const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  return tick_ns;
}

}  // namespace traceinject
