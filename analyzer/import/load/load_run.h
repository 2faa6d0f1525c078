// SPDX-License-Identifier: Apache-2.0
// Everything the user named, as one Run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/stop_flag.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct LoadOptions {
  unsigned threads = 0;  // 0: one a CPU
  // Read only about so many events of each file, the first of every table: for a quick look. 0:
  // all. Rank::read_until tells how far that went. Traces that are not run.db are read as a whole.
  std::uint64_t most_rows = 0;
  // Read only the last so many ns of each file, as in ReadPart. 0: all.
  TimeNs last_ns = 0;
  // Read only these tables of events, as in ReadPart. Others may have a say in the times of these:
  // where the clock was set (Trust::clock_steps), and where clocks are to be aligned. Traces that
  // are not run.db are read as a whole.
  std::optional<EventTables> tables = std::nullopt;
  // Once true, LoadRun gives up within a tenth of a second or so; unpacking and sorting may take
  // longer. Null: never.
  StopFlag stop = nullptr;
  // Called from the calling thread, about ten times a second; may be empty.
  std::function<void(const LoadProgress&)> on_progress;
};

// Resolves `paths` (see run_paths.h), reads the files in parallel, and puts them on the smallest
// base. Files of another attempt (run_id) than the newest one's are left out, as are files that
// cannot be read when others can, and of a merged file the processes that were read from recordings
// of their own; Run::notes says so. Error: nothing could be read, or it was stopped; the sentence
// says why.
Result<Run> LoadRun(const std::vector<std::string>& paths, const LoadOptions& options);

}  // namespace traceinject
