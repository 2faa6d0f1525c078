// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/import/open/group_recordings.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/open/spool_notes.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 8;
constexpr char kUsualName[] = "run";  // TRACEINJECT_OUTPUT is run.db by default

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
  std::string folder;
  RecordingGroup recordings;

  std::string long_name() const { return Joined(folder, recordings.stem); }
  std::string name() const {
    const bool by_folder = recordings.stem == kUsualName || recordings.several_stems;
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
    found.push_back({std::move(name), std::move(job.recordings.paths)});
  }
  std::sort(found.begin(), found.end(),
            [](const JobFiles& a, const JobFiles& b) { return a.name < b.name; });
  return found;
}

}  // namespace

JobFolder::Folders JobFolder::List() const {
  Folders folders;
  for (const std::string& folder : FoldersBelow(folder_)) {
    std::vector<NamedRecording> recordings;
    for (std::string& path : RecordingsInFolder(folder)) {
      std::string name = fs::path(path).filename();
      recordings.push_back({std::move(path), std::move(name)});
    }
    for (const std::string& path : NotesInFolder(folder)) {
      SpoolNote note = ReadSpoolNote(path);
      std::error_code error;
      if (!note.recording.empty() && fs::exists(note.recording, error))
        recordings.push_back({std::move(note.recording), fs::path(path).filename()});
    }
    if (recordings.empty()) continue;
    std::string name = fs::path(folder).lexically_relative(folder_).string();
    folders[name == "." ? "" : std::move(name)] = std::move(recordings);
  }
  return folders;
}

std::set<std::string> JobFolder::MarksOf(const std::string& path) {
  const JobState state = StateOf({"", {path}});
  const auto known = marks_.find(path);
  if (known != marks_.end() && known->second.first == state) return known->second.second;
  std::set<std::string> marks = RunMarks(path);
  marks_[path] = {state, marks};
  return marks;
}

std::vector<JobFiles> JobFolder::Find() {
  std::vector<NamedJob> jobs;
  std::set<std::string> there;
  for (const auto& [folder, recordings] : List()) {
    for (const NamedRecording& recording : recordings) there.insert(recording.path);
    for (RecordingGroup& group :
         GroupRecordings(recordings, [this](const std::string& path) { return MarksOf(path); }))
      jobs.push_back({folder, std::move(group)});
  }
  std::erase_if(marks_, [&](const auto& marks) { return !there.contains(marks.first); });
  return WithNames(std::move(jobs));
}

}  // namespace traceinject
