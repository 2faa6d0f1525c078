// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/new_recordings.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/common/text.h"
#include "analyzer/doctor/output_folder.h"
#include "analyzer/import/open/spool_notes.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// "a-%p.db" -> "a-*.db".
std::string Glob(const std::string& pattern) {
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      glob += pattern[i];
    } else {
      glob += pattern[++i] == '%' ? '%' : '*';
    }
  }
  return glob;
}

}  // namespace

NewRecordings::NewRecordings(std::string output) : output_(std::move(output)) {
  for (const auto& [path, id] : List()) before_.insert(id);
}

std::vector<std::pair<std::string, NewRecordings::FileId>> NewRecordings::List() const {
  // The recorder puts the rank, and where a name is taken the process, before the extension.
  const fs::path glob = Glob(output_);
  const std::string stem = (glob.parent_path() / glob.stem()).string(),
                    extension = glob.extension().string();
  const std::string globs[] = {stem + extension, stem + ".rank*" + extension,
                               stem + ".p*" + extension};
  std::vector<std::pair<std::string, FileId>> found;
  std::error_code error;
  const auto take = [&](const fs::directory_entry& entry) {
    struct stat facts = {};
    std::string path = entry.path().string();
    const auto matches = [&](const char* ending) {
      return std::any_of(std::begin(globs), std::end(globs),
                         [&](const std::string& g) { return MatchesGlob(path, g + ending); });
    };
    if (matches(".*.spool")) {
      path = ReadSpoolNote(path).recording;
    } else if (!matches("")) {
      return;
    }
    if (stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
      found.emplace_back(path, FileId{facts.st_dev, facts.st_ino});
  };
  // What is made of %h and the like may name folders, too.
  const std::string folder = fs::path(output_).parent_path().string();
  if (folder.find('%') == std::string::npos) {
    for (const auto& entry : fs::directory_iterator(folder, error)) take(entry);
  } else {
    for (const auto& entry : fs::recursive_directory_iterator(KnownFolder(output_), error))
      take(entry);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> NewRecordings::Find() const {
  std::vector<std::string> paths;
  for (const auto& [path, id] : List()) {
    if (!before_.contains(id)) paths.push_back(path);
  }
  return paths;
}

std::int64_t BytesOf(const std::vector<std::string>& recordings) {
  std::int64_t bytes = 0;
  for (const std::string& path : recordings) {
    for (const char* suffix : {"", "-wal"}) {
      std::error_code error;
      const std::uintmax_t size = fs::file_size(path + suffix, error);
      if (!error) bytes += static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

}  // namespace traceinject
