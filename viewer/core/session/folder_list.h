// SPDX-License-Identifier: Apache-2.0
// What of a folder can be opened, and what a path that is being typed may become.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  std::size_t ranks = 1;    // files of one run: run.db stands for run.rank*.db
  std::uint64_t bytes = 0;  // of all of them
  bool operator==(const FolderEntry&) const = default;
};

struct FolderList {
  std::string folder;                // as it was asked for
  std::vector<FolderEntry> entries;  // folders, then recordings, both by name
  bool readable = true;
};

// Folders but for hidden ones, recordings, and traces of other profilers. O(files).
FolderList ReadFolderList(const std::string& folder);

// A path up to the last slash, and what follows it.
struct TypedPath {
  std::string folder;  // "~" is replaced by `home`; "." for a path without a slash
  std::string start;
  bool operator==(const TypedPath&) const = default;
};
TypedPath SplitTyped(std::string_view text, std::string_view home);

// Indices of the entries whose names begin so.
std::vector<std::size_t> EntriesStarting(const FolderList& list, std::string_view start);

// The path with the folder that was typed and another name; that of a folder ends with a slash.
std::string WithEntry(std::string_view text, const FolderEntry& entry);

// What can only follow: all that the names beginning so have in common.
std::string Completed(std::string_view text, const FolderList& list);

}  // namespace traceinject
