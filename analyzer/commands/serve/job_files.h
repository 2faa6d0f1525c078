// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traceinject {

// The recordings of one job, one a rank.
struct JobFiles {
  std::string name;                // "run", or by its folder: "vision/attempt2"
  std::vector<std::string> paths;  // sorted; at least one, which need not exist
};

// What files are at a moment: equal to another one where nothing was written in between.
struct JobState {
  std::vector<std::pair<dev_t, ino_t>> files;  // sorted
  std::int64_t changed_ns = 0;  // the last of them, since the Unix epoch; 0: there are none
  std::int64_t bytes = 0;       // on disk; as above, with SQLite's logs beside them

  bool operator==(const JobState&) const = default;
};
JobState StateOf(const JobFiles& job);

}  // namespace traceinject
