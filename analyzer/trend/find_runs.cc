// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/find_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/import/open/group_recordings.h"
#include "analyzer/import/open/run_paths.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// Deeper there are no runs, but maybe links that lead back.
constexpr int kDeepest = 8;
std::vector<NamedRecording> NamedRecordingsIn(const fs::path& folder) {
  std::vector<NamedRecording> recordings;
  for (std::string& file : RecordingsInFolder(folder)) {
    std::string name = fs::path(file).filename();
    recordings.push_back({std::move(file), std::move(name)});
  }
  return recordings;
}

// run.db for all its ranks.
std::string NameOf(const RecordingGroup& group) {
  return group.of_ranks ? group.stem + ".db" : fs::path(group.paths.front()).filename().string();
}

class Finder {
 public:
  explicit Finder(bool one_path) : one_path_(one_path) {}

  Status Add(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return AddFiles(path);
    root_ = path;
    const std::size_t before = runs_.size();
    AddEach(path);
    AddBelow(path, 0);
    if (runs_.size() > before) return Done{};
    return Error{
        fmt::format("{}: no recordings in this folder or below it (no *.db, *.db.zst, *.json, "
                    "*.json.gz or *.sqlite file)",
                    path)};
  }

  // Each file once.
  std::vector<FoundRun> Take() {
    std::set<std::vector<std::string>> seen;
    std::erase_if(runs_, [&](const FoundRun& run) { return !seen.insert(run.files).second; });
    std::sort(runs_.begin(), runs_.end(),
              [](const FoundRun& a, const FoundRun& b) { return a.name < b.name; });
    return std::move(runs_);
  }

 private:
  Status AddFiles(const std::string& path) {
    auto named = ResolveRunPaths({path});
    if (!named.ok()) return Error{named.error()};
    runs_.push_back({path, std::move(named.value().files)});
    return Done{};
  }

  std::string NameBelow(const fs::path& path) const {
    return one_path_ ? path.lexically_relative(root_).string() : path.string();
  }

  void AddEach(const fs::path& folder) {
    const std::size_t before = runs_.size();
    for (RecordingGroup& group : GroupRecordings(NamedRecordingsIn(folder), CommunicatorMarks))
      runs_.push_back({NameBelow(folder / NameOf(group)), std::move(group.paths)});
    if (runs_.size() > before) return;
    for (const std::string& file : TracesInFolder(folder))
      runs_.push_back({NameBelow(file), {file}});
  }

  void AddBelow(const fs::path& folder, int depth) {
    std::error_code error;
    std::set<fs::path> below;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored) && !entry->path().filename().string().starts_with('.'))
        below.insert(entry->path());
    }
    for (const fs::path& path : below) AddFolder(path, depth + 1);
  }

  // Files of other kinds of JSON may lie beside folders with runs.
  void AddFolder(const fs::path& path, int depth) {
    std::vector<std::string> files = RecordingsInFolder(path);
    const std::size_t before = runs_.size();
    if (files.empty() && depth < kDeepest) AddBelow(path, depth);
    if (files.empty() && runs_.size() == before) files = TracesInFolder(path);
    if (!files.empty()) runs_.push_back({NameBelow(path), std::move(files)});
  }

  bool one_path_;
  fs::path root_;
  std::vector<FoundRun> runs_;
};

}  // namespace

Result<std::vector<FoundRun>> FindRuns(const std::vector<std::string>& paths) {
  Finder finder(paths.size() == 1);
  for (const std::string& path : paths) {
    if (const Status added = finder.Add(path); !added.ok()) return Error{added.error()};
  }
  return finder.Take();
}

}  // namespace traceinject
