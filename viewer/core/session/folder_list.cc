// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/folder_list.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "analyzer/import/open/run_paths.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

std::string NameOf(const std::string& path) { return fs::path(path).filename().string(); }

// "run.db" for run.rank00003.db; other names stay.
std::string NameOfRun(const std::string& name) {
  constexpr std::string_view kRank = ".rank";
  const std::size_t rank = name.rfind(kRank);
  if (rank == std::string::npos || rank == 0) return name;
  const std::size_t end = name.find('.', rank + 1);
  const std::string_view digits = std::string_view(name).substr(
      rank + kRank.size(), end == std::string::npos ? 0 : end - rank - kRank.size());
  const bool numbered = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
  if (!numbered || !std::string_view(name).substr(end).starts_with(".db")) return name;
  return name.substr(0, rank) + ".db";
}

void AddFolders(FolderList& list) {
  std::error_code error;
  fs::directory_iterator entry(list.folder, fs::directory_options::skip_permission_denied, error);
  list.readable = !error;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    const std::string name = NameOf(entry->path().string());
    if (!name.starts_with('.') && entry->is_directory(unknown))
      list.entries.push_back({name, true});
  }
  std::sort(list.entries.begin(), list.entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
}

std::uint64_t BytesOf(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

// Where the plain name is taken by a file it means that file alone.
void AddRecordings(FolderList& list) {
  const std::vector<std::string> recordings = RecordingsInFolder(list.folder);
  std::map<std::string, FolderEntry> runs;
  for (const std::string& path : recordings) {
    const std::string name = NameOf(path), run = NameOfRun(name);
    std::error_code error;
    const bool alone = run == name || fs::exists(fs::path(list.folder) / run, error);
    FolderEntry& entry = runs[alone ? name : run];
    entry.ranks = entry.name.empty() ? 1 : entry.ranks + 1;
    entry.name = entry.name.empty() ? name : run;
    entry.bytes += BytesOf(path);
  }
  for (const std::string& path : TracesInFolder(list.folder)) {
    const std::string name = NameOf(path);
    runs[name] = {name, false, 1, BytesOf(path)};
  }
  for (auto& [name, entry] : runs) list.entries.push_back(std::move(entry));
}

}  // namespace

FolderList ReadFolderList(const std::string& folder) {
  FolderList list;
  list.folder = folder;
  AddFolders(list);
  if (list.readable) AddRecordings(list);
  return list;
}

TypedPath SplitTyped(std::string_view text, std::string_view home) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(text)};
  TypedPath typed{std::string(text.substr(0, slash + 1)), std::string(text.substr(slash + 1))};
  if (typed.folder.starts_with("~/") && !home.empty()) typed.folder.replace(0, 1, home);
  return typed;
}

std::vector<std::size_t> EntriesStarting(const FolderList& list, std::string_view start) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    if (std::string_view(list.entries[i].name).starts_with(start)) found.push_back(i);
  }
  return found;
}

std::string WithEntry(std::string_view text, const FolderEntry& entry) {
  const std::size_t slash = text.rfind('/');
  std::string path(slash == std::string_view::npos ? "" : text.substr(0, slash + 1));
  return path + entry.name + (entry.is_folder ? "/" : "");
}

std::string Completed(std::string_view text, const FolderList& list) {
  const std::string start = SplitTyped(text, "").start;
  const std::vector<std::size_t> found = EntriesStarting(list, start);
  if (found.empty()) return std::string(text);
  FolderEntry common = list.entries[found.front()];
  for (const std::size_t index : found) {
    const std::string& name = list.entries[index].name;
    const auto differs =
        std::mismatch(common.name.begin(), common.name.end(), name.begin(), name.end());
    common.name.erase(differs.first, common.name.end());
  }
  common.is_folder &= found.size() == 1;
  return WithEntry(text, common);
}

}  // namespace traceinject
