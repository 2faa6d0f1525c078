// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_folder.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <utility>

#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/open/spool_notes.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 8;
constexpr char kUsualName[] = "run";  // TRACEINJECT_OUTPUT is run.db by default

// "run" of run.rank00003.db.zst, and of run.rank00003.p123.db, which found its name taken; of a
// spool's note, run.db.HOST.pPID.TIME.spool, that of its place.
std::string StemOf(const std::string& path) {
  static const std::regex form(R"((.+?)(\.rank\d+(\.p\d+)?)?\.db(\..*)?)");
  const std::string name = fs::path(path).filename().string();
  std::smatch parts;
  return std::regex_match(name, parts, form) ? parts[1].str() : name;
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// With `top` itself.
std::vector<std::string> FoldersBelow(const std::string& top) {
  std::vector<std::string> folders = {top};
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(top, options, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    const bool is_link = entry->is_symlink(ignored);
    if (is_link || IsHidden(entry->path()) || entry.depth() + 1 >= kMostDepth)
      entry.disable_recursion_pending();
    if (!is_link && !IsHidden(entry->path())) folders.push_back(entry->path().string());
  }
  return folders;
}

std::string Joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

struct NamedJob {
  std::string folder, stem;
  bool has_more_stems = false;
  std::vector<std::string> paths;

  std::string long_name() const { return Joined(folder, stem); }
  std::string name() const {
    const bool by_folder = stem == kUsualName || has_more_stems;
    return by_folder && !folder.empty() ? folder : long_name();
  }
};

// No two of one name: where a short one is taken the long one is used.
std::vector<JobFiles> WithNames(std::vector<NamedJob> jobs) {
  std::map<std::string, int> times;
  for (const NamedJob& job : jobs) ++times[job.name()];
  std::vector<JobFiles> found;
  for (NamedJob& job : jobs) {
    std::string name = times.at(job.name()) > 1 ? job.long_name() : job.name();
    std::sort(job.paths.begin(), job.paths.end());
    found.push_back({std::move(name), std::move(job.paths)});
  }
  std::sort(found.begin(), found.end(),
            [](const JobFiles& a, const JobFiles& b) { return a.name < b.name; });
  return found;
}

}  // namespace

JobFolder::Folders JobFolder::List() const {
  Folders folders;
  for (const std::string& folder : FoldersBelow(folder_)) {
    std::vector<Recording> recordings;
    for (std::string& path : RecordingsInFolder(folder)) {
      std::string stem = StemOf(path);
      recordings.push_back({std::move(path), std::move(stem)});
    }
    for (const std::string& path : NotesInFolder(folder)) {
      SpoolNote note = ReadSpoolNote(path);
      std::error_code error;
      if (!note.recording.empty() && fs::exists(note.recording, error))
        recordings.push_back({std::move(note.recording), StemOf(path)});
    }
    if (recordings.empty()) continue;
    std::string name = fs::path(folder).lexically_relative(folder_).string();
    folders[name == "." ? "" : std::move(name)] = std::move(recordings);
  }
  return folders;
}

std::optional<std::string> JobFolder::RunOf(const std::string& path) {
  // Unpacking it for that would take as long as reading it.
  if (path.ends_with(".zst")) return std::nullopt;
  const JobState state = StateOf({"", {path}});
  const auto known = runs_.find(path);
  if (known != runs_.end() && known->second.first.files == state.files) return known->second.second;
  const auto recording = OpenRecording(path);
  if (!recording.ok()) return std::nullopt;
  auto row = recording.value().Prepare("SELECT value FROM meta WHERE key = 'run_id'");
  if (!row.ok()) return std::nullopt;
  const auto found = row.value().Step();
  if (!found.ok() || !found.value()) return std::nullopt;
  std::string run(row.value().text(0));
  if (run.empty()) return std::nullopt;
  runs_[path] = {state, run};
  return run;
}

std::vector<JobFiles> JobFolder::Find() {
  std::vector<NamedJob> jobs;
  std::set<std::string> there;
  for (const auto& [folder, recordings] : List()) {
    std::map<std::string, NamedJob> by_stem;
    for (const Recording& recording : recordings) {
      NamedJob& job = by_stem[recording.stem];
      job.folder = folder;
      job.stem = recording.stem;
      job.paths.push_back(recording.path);
      there.insert(recording.path);
    }
    std::map<std::string, std::size_t> by_run;
    for (auto& [stem, job] : by_stem) {
      const auto run = by_stem.size() > 1 ? RunOf(job.paths.front()) : std::nullopt;
      const auto [of_run, is_new] = by_run.try_emplace(run.value_or(""), jobs.size());
      if (!run || is_new) {
        jobs.push_back(std::move(job));
        continue;
      }
      NamedJob& same = jobs[of_run->second];
      same.has_more_stems = true;
      same.paths.insert(same.paths.end(), job.paths.begin(), job.paths.end());
    }
  }
  std::erase_if(runs_, [&](const auto& run) { return !there.contains(run.first); });
  return WithNames(std::move(jobs));
}

}  // namespace traceinject
