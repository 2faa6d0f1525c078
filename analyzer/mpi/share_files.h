// SPDX-License-Identifier: Apache-2.0
// Which process reads which file.
//
// On a cluster a file may lie on a disk of one node, where only the processes of that node see it,
// or on one that all share. Two processes see the same file if its path, size, time of change and
// inode are the same for both; where that is wrong, a recording is read twice, which does no harm
// (see combine_job.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

struct SeenFile {
  std::string path;
  std::uint64_t bytes = 0, inode = 0;
  std::int64_t changed_ns = 0;

  auto operator<=>(const SeenFile&) const = default;
};

// A file as this process sees it.
SeenFile LookAt(const std::string& path);

// The files as text, and back. One that is damaged gives fewer files.
std::string PackFiles(const std::vector<SeenFile>& files);
std::vector<SeenFile> UnpackFiles(std::string_view packed);

// For each process the paths that it is to read, of those that it sees: every file once, each
// process about as many bytes. `seen`: by process. O(files log files + files x processes).
std::vector<std::vector<std::string>> ShareFiles(const std::vector<std::vector<SeenFile>>& seen);

}  // namespace traceinject
