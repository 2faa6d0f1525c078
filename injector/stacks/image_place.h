// SPDX-License-Identifier: Apache-2.0
// Where the executable or a library of this process lies in another one: what was forked has it at
// the same addresses, what was spawned elsewhere.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceinject {

// A file that is mapped into a process: a line of /proc/PID/maps (proc(5)).
struct MappedFile {
  std::uint64_t start = 0, end = 0;
  bool is_code = false;
  std::uint64_t offset = 0;  // in the file
  std::string_view file;     // device and inode; empty: no file
  std::string_view path;
};
std::optional<MappedFile> ParseMapsLine(std::string_view line);

// Where the first part of a file is mapped, by the text of /proc/PID/maps. Empty: nowhere.
std::optional<std::uint64_t> FindMapped(std::string_view maps, std::string_view file);

class ImagePlace {
 public:
  // Of the image of this process that has a symbol at this address. O(mappings).
  explicit ImagePlace(std::uint64_t address);

  // What is to be added to an address in it for that in the other process. Empty: the image is not
  // there (yet), or the process may not be looked at. O(mappings).
  std::optional<std::int64_t> ShiftIn(pid_t pid) const;

 private:
  std::uint64_t base_ = 0;
  std::string file_;
};

}  // namespace traceinject
