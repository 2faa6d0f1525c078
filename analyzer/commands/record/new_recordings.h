// SPDX-License-Identifier: Apache-2.0
// The recordings that a program leaves under a name, as they appear.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceinject {

class NewRecordings {
 public:
  // `output`: an absolute path as in TRACEINJECT_OUTPUT, also with %r and the like. What lies there
  // now is not new, under whatever name it lies later.
  explicit NewRecordings(std::string output);

  // Sorted by name; those that are still written in their spool (TRACEINJECT_SPOOL) by that name.
  std::vector<std::string> Find() const;

 private:
  using FileId = std::pair<dev_t, ino_t>;
  std::vector<std::pair<std::string, FileId>> List() const;

  std::string output_;
  std::set<FileId> before_;
};

// Bytes on disk, with what has not come into the files themselves yet.
std::int64_t BytesOf(const std::vector<std::string>& recordings);

}  // namespace traceinject
