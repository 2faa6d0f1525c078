// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/run_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analyzer/common/text.h"
#include "analyzer/import/open/recording_name.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompressed = ".zst";
// No traces: what traceview keeps beside a recording, and what analyze export writes beside those
// of Chakra.
constexpr std::string_view kMarks = ".marks.json", kCommGroups = ".comm_groups.json";

bool RemoveSuffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

std::string Uncompressed(std::string name) {
  RemoveSuffix(name, kCompressed);
  return name;
}

// run.rank00003 of run.rank00003.db.zst, of run.rank00003.summary and of run.rank00003.json.gz.
std::string Stem(const fs::path& path) {
  std::string name = Uncompressed(path.filename().string());
  for (const std::string_view suffix : {".gz", ".db", ".json", ".sqlite", ".rpd", kSummarySuffix})
    RemoveSuffix(name, suffix);
  return name;
}

// Files directly in `folder` whose name, without .zst, matches, by name. Of x.db and x.db.zst only
// x.db is taken.
std::vector<std::string> FilesMatching(const fs::path& folder, std::string_view pattern) {
  std::error_code error;
  std::set<std::string> names;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (MatchesGlob(Uncompressed(name), pattern) && !entry->is_directory(ignored))
      names.insert(name);
  }
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::string plain = name;
    if (RemoveSuffix(plain, kCompressed) && names.contains(plain)) continue;
    files.push_back((folder / name).string());
  }
  return files;
}

// run.rank*.db for run.db.
std::vector<std::string> RankSiblings(const fs::path& path) {
  const fs::path plain(Uncompressed(path.filename().string()));
  if (plain.stem().empty()) return {};
  return FilesMatching(path.parent_path(),
                       plain.stem().string() + ".rank*" + plain.extension().string());
}

// run.p123.db for run.db.
std::vector<std::string> PidSiblings(const fs::path& path) {
  const fs::path plain(Uncompressed(path.filename().string()));
  if (plain.stem().empty()) return {};
  auto files =
      FilesMatching(path.parent_path(), plain.stem().string() + ".p*" + plain.extension().string());
  std::erase_if(files, [&](const std::string& file) {
    const RecordingName name = ParseRecordingName(fs::path(file).filename().string());
    return !name.of_process || name.of_rank || name.stem != plain.stem();
  });
  return files;
}

// The sentence for a file that was named while others of the same job lie beside it; empty if there
// are none.
std::string NoteOnOthers(const std::string& path) {
  auto others = RankSiblings(path);
  for (std::string& other : PidSiblings(path)) others.push_back(std::move(other));
  if (others.empty()) return "";
  const std::string first = fs::path(others.front()).filename().string();
  if (others.size() == 1)
    return fmt::format(
        "only {} was read; {} next to it is from another process. Give the folder to read both",
        path, first);
  return fmt::format(
      "only {} was read; {} files next to it ({}, ...) are from other processes. Give the folder "
      "to read all",
      path, others.size(), first);
}

// The summaries of that name in the folder, but for those whose recording is among `recordings`.
void AddSummaries(const fs::path& folder, const std::string& stem,
                  std::vector<std::string>& recordings) {
  std::set<std::string> recorded;
  for (const std::string& recording : recordings) recorded.insert(Stem(recording));
  for (std::string& file : FilesMatching(folder, stem + kSummarySuffix)) {
    if (!recorded.contains(Stem(file))) recordings.push_back(std::move(file));
  }
  std::sort(recordings.begin(), recordings.end());
}

Result<std::vector<std::string>> ResolveOne(const std::string& path, PathsTo kinds,
                                            std::vector<std::string>& notes) {
  const bool summaries = kinds == PathsTo::kRecordingsOrSummaries;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const fs::directory_iterator first(path, error);
    if (error) return Error{fmt::format("{}: cannot read this folder ({})", path, error.message())};
    auto files = RecordingsInFolder(path);
    if (summaries) AddSummaries(path, "*", files);
    if (files.empty()) files = TracesInFolder(path);
    if (files.empty())
      return Error{fmt::format(
          "{}: no recording in this folder (no *.db, *.db.zst, {} file){}", path, kTraceNames,
          summaries ? fmt::format(" and no summary (*{})", kSummarySuffix) : "")};
    return files;
  }
  if (fs::exists(path, error)) {
    if (std::string note = NoteOnOthers(path); !note.empty()) notes.push_back(std::move(note));
    return std::vector{path};
  }
  // No error is set for a file that does not exist.
  if (error) return Error{fmt::format("{}: cannot access ({})", path, error.message())};
  auto siblings = RankSiblings(path);
  if (summaries) AddSummaries(fs::path(path).parent_path(), Stem(path) + ".rank*", siblings);
  if (!siblings.empty()) return siblings;
  const std::string compressed = path + std::string(kCompressed);
  if (fs::exists(compressed, error)) return std::vector{compressed};
  return Error{fmt::format("{}: no such file, and no per-rank files of that name", path)};
}

}  // namespace

std::vector<std::string> RecordingsInFolder(const std::string& folder) {
  return FilesMatching(folder, "*.db");
}

std::vector<std::string> NotesInFolder(const std::string& folder) {
  return FilesMatching(folder, "*.spool");
}

std::vector<std::string> TracesInFolder(const std::string& folder) {
  auto traces = FilesMatching(folder, "*.json");
  std::erase_if(traces, [](const std::string& file) {
    return file.ends_with(kMarks) || file.ends_with(kCommGroups);
  });
  const std::set<std::string> plain(traces.begin(), traces.end());
  for (std::string& trace : FilesMatching(folder, "*.json.gz")) {
    if (!plain.contains(trace.substr(0, trace.size() - 3))) traces.push_back(std::move(trace));
  }
  for (const std::string_view databases : {"*.sqlite", "*.rpd"}) {
    for (std::string& trace : FilesMatching(folder, databases)) traces.push_back(std::move(trace));
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

std::string SummaryPath(const std::string& folder, const std::string& recording) {
  return (fs::path(folder) / (Stem(recording) + kSummarySuffix)).string();
}

Result<RunPaths> ResolveRunPaths(const std::vector<std::string>& paths, PathsTo kinds) {
  RunPaths run;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    auto files = ResolveOne(path, kinds, run.notes);
    if (!files.ok()) return Error{files.error()};
    for (std::string& file : files.value()) {
      std::error_code error;
      const fs::path canonical = fs::weakly_canonical(file, error);
      if (seen.insert(error ? file : canonical.string()).second)
        run.files.push_back(std::move(file));
    }
  }
  if (run.files.empty()) return Error{"no recording given"};
  return run;
}

}  // namespace traceinject
