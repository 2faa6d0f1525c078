// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/spool_notes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyzer/common/text.h"
#include "analyzer/import/open/run_paths.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

SpoolNote ReadSpoolNote(const std::string& path) {
  SpoolNote note{path, {}, {}, {}};
  std::getline(std::ifstream(path), note.text);
  const std::size_t colon = note.text.find(":/");
  if (colon == std::string::npos) return note;
  note.host = note.text.substr(0, colon);
  note.recording = note.text.substr(colon + 1);
  return note;
}

std::vector<SpoolNote> SpoolNotesOf(const std::string& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const fs::path name = fs::path(path).filename();
  const std::string globs[] = {
      is_folder ? "*" : name.string() + ".*",
      is_folder ? "*" : name.stem().string() + ".rank*" + name.extension().string() + ".*"};
  std::vector<SpoolNote> notes;
  for (const std::string& file : NotesInFolder(is_folder ? path : FolderOf(path))) {
    const std::string found = fs::path(file).filename().string();
    if (std::any_of(std::begin(globs), std::end(globs),
                    [&](const std::string& glob) { return MatchesGlob(found, glob); }))
      notes.push_back(ReadSpoolNote(fs::path(file).lexically_normal().string()));
  }
  return notes;
}

}  // namespace traceinject
