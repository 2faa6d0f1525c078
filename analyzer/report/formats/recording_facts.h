// SPDX-License-Identifier: Apache-2.0
// What is known of the recordings of a run beside what they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace traceinject {

struct RecordingFile {
  std::optional<std::int64_t> bytes;  // on disk
  // Its process is gone and did not close it; empty: that cannot be told from here.
  std::optional<bool> killed;
};

struct RecordingFacts {
  std::optional<std::int64_t> steps;  // of the whole run so far
  std::vector<RecordingFile> files;   // as Report.sources; empty: nothing is known of them
};

}  // namespace traceinject
