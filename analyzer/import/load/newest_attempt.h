// SPDX-License-Identifier: Apache-2.0
// Files of several attempts of a job may lie side by side. They are never mixed: their steps have
// nothing in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traceinject {

struct AttemptFile {
  std::string path, run_id;
  std::int64_t started_ns = 0;  // recording began, ns since the epoch
};

struct NewestAttempt {
  std::string run_id;
  std::vector<std::string> notes;  // names the files of other attempts; empty: there are none
};

// The attempt of the file that began last. `files`: at least one. O(files).
NewestAttempt FindNewestAttempt(const std::vector<AttemptFile>& files);

}  // namespace traceinject
