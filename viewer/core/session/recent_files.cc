// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/recent_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "viewer/core/session/environment_variable.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRecentBytes = 1 << 20;

std::vector<std::string> ReadPaths(const std::string& file) {
  std::vector<std::string> paths;
  const Result<std::string> text = ReadSmallFile(file, kMaxRecentBytes);
  if (!text.ok()) return paths;
  std::string_view rest = text.value();
  while (!rest.empty() && paths.size() < RecentFiles::kMax) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) paths.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return paths;
}

void PutFirst(const std::string& path, std::vector<std::string>& paths) {
  std::erase(paths, path);
  paths.insert(paths.begin(), path);
  if (paths.size() > RecentFiles::kMax) paths.resize(RecentFiles::kMax);
}

// Other windows may have written since: theirs follow.
Status WritePaths(const std::string& file, std::vector<std::string> paths) {
  for (const std::string& other : ReadPaths(file)) {
    if (std::find(paths.begin(), paths.end(), other) == paths.end()) paths.push_back(other);
  }
  if (paths.size() > RecentFiles::kMax) paths.resize(RecentFiles::kMax);
  std::string text;
  for (const std::string& path : paths) text += path + "\n";
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  return ReplaceFile(file, text);
}

}  // namespace

std::string RecentFilesPath() {
  const std::string state = EnvironmentVariable("XDG_STATE_HOME"),
                    home = EnvironmentVariable("HOME");
  if (state.starts_with('/')) return state + "/traceview/recent";
  return home.starts_with('/') ? home + "/.local/state/traceview/recent" : "";
}

RecentFiles::RecentFiles(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) paths_ = ReadPaths(path_);
}

void RecentFiles::Add(const std::string& recording) {
  std::error_code error;
  const std::string absolute = fs::absolute(recording, error).lexically_normal().string();
  // A line is a path.
  if (path_.empty() || error || absolute.find('\n') != std::string::npos) return;
  PutFirst(absolute, paths_);
  if (!writing_) {
    writing_ = std::make_unique<LatestTask<std::vector<std::string>, Status>>(
        [path = path_](const std::vector<std::string>& paths, const std::atomic<bool>&) {
          return std::optional(WritePaths(path, paths));
        });
  }
  writing_->Ask(paths_);
}

}  // namespace traceinject
