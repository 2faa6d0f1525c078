// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/recording_processes.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "analyzer/common/digit.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecorder = "libtraceinject.so";

// Of the environment that the process was started with.
std::optional<std::string> Variable(const std::string& environment, std::string_view name) {
  const std::string begin = std::string(name) + "=";
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.compare(at, begin.size(), begin) == 0)
      return environment.substr(at + begin.size(), end - at - begin.size());
    at = end + 1;
  }
  return std::nullopt;
}

bool RecordsTo(const std::string& process, const fs::path& run) {
  const auto maps = ReadTextFile(process + "/maps");
  if (!maps || maps->find(kRecorder) == std::string::npos) return false;
  const auto environment = ReadTextFile(process + "/environ");
  const std::string output =
      Variable(environment.value_or(""), "TRACEINJECT_OUTPUT").value_or("run.db");
  if (output.find('%') != std::string::npos) return true;
  const fs::path folder = ReadLinkText(process + "/cwd");
  return (folder / output).lexically_normal() == run;
}

}  // namespace

bool HasRecordingProcess(const std::string& run) {
  std::error_code error;
  const fs::path whole = fs::absolute(run, error).lexically_normal();
  const std::vector<std::string> names = ListFolder("/proc").value_or(std::vector<std::string>());
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::all_of(name.begin(), name.end(), IsDigit) && RecordsTo("/proc/" + name, whole);
  });
}

}  // namespace traceinject
