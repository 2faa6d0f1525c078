// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/output_folder.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "analyzer/common/units.h"
#include "machine/file_system.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "output folder";
// The first one is about what the library itself needs to say that it failed, the second one what a
// process may fill (TRACEINJECT_MAX_SIZE).
constexpr std::int64_t kMinBytes = 64 << 20, kUsualBytes = std::int64_t{4} << 30;

CheckLine Writable(const std::string& folder) {
  if (access(folder.c_str(), W_OK | X_OK) == 0)
    return {CheckStatus::kOk, kFolder, folder + " is writable", {}, {}};
  return {CheckStatus::kFail, kFolder, fmt::format("{}: {}", folder, std::strerror(errno)),
          "TRACEINJECT_OUTPUT=/some/folder/run.db", "docs/troubleshooting.md"};
}

CheckLine FileSystem(const std::string& folder, const std::string& spool) {
  constexpr char kCheck[] = "output file system";
  if (!OnNetworkFileSystem(folder)) return {CheckStatus::kOk, kCheck, "local", {}, {}};
  if (!spool.empty() && !OnNetworkFileSystem(spool))
    return {CheckStatus::kOk, kCheck, "network, with a spool on " + spool, {}, {}};
  return {CheckStatus::kWarn, kCheck,
          folder + " is on a network file system: recording uses a slower but safe journal mode",
          "TRACEINJECT_SPOOL=/a/local/folder", "docs/troubleshooting.md, Network file systems"};
}

CheckLine Room(const std::string& folder) {
  constexpr char kCheck[] = "free space for the output";
  struct statvfs told {};
  if (statvfs(folder.c_str(), &told) != 0)
    return {
        CheckStatus::kUnknown, kCheck, fmt::format("{}: {}", folder, std::strerror(errno)), {}, {}};
  const auto free_bytes = static_cast<std::int64_t>(told.f_bavail * told.f_frsize);
  const std::string text = FormatBytes(free_bytes) + " free";
  if (free_bytes >= kUsualBytes) return {CheckStatus::kOk, kCheck, text, {}, {}};
  return {free_bytes < kMinBytes ? CheckStatus::kFail : CheckStatus::kWarn, kCheck,
          text + "; one process can write up to 4 GiB",
          "use another folder (TRACEINJECT_OUTPUT), set TRACEINJECT_MAX_SIZE, or record only part "
          "of the run (TRACEINJECT_WINDOW)",
          "docs/recording.md, Record part of a run"};
}

}  // namespace

std::string KnownFolder(const std::string& pattern) {
  const std::size_t percent = pattern.find('%');
  std::string known = pattern.substr(0, percent);
  known.erase(known.rfind('/') == std::string::npos ? 0 : known.rfind('/') + 1);
  std::error_code error;
  fs::path folder = fs::absolute(known.empty() ? "." : known, error).lexically_normal();
  while (!fs::is_directory(folder, error) && folder.has_relative_path())
    folder = folder.parent_path();
  const std::string text = folder.string();
  return text.size() > 1 && text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

Checklist CheckOutputFolder(const std::string& pattern, const std::string& spool) {
  const std::string folder = KnownFolder(pattern);
  return {Writable(folder), FileSystem(folder, spool), Room(spool.empty() ? folder : spool)};
}

}  // namespace traceinject
