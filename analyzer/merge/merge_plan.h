// SPDX-License-Identifier: Apache-2.0
// Which recordings become one file, and how their times get on one clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/merge/merge_clock.h"
#include "analyzer/ranks/load/load_job.h"

namespace traceinject {

// A recording of one process.
struct MergeSource {
  std::string path;
  MergeClock clock = {};
  // As process.clock_shift and clock_drift of run_db.sql.
  TimeNs clock_shift = 0;
  double clock_drift = 0;
};

struct MergePlan {
  std::int64_t base_ns = 0;  // of the merged file
  std::string run_id;
  std::vector<MergeSource> sources;  // by rank, at least one; processes without one last
  std::vector<std::string> notes;    // what is left out, and what was done to clocks
};

// Resolves `paths` (see run_paths.h) and reads the recordings. Left out, with a note, is what
// CombineJob leaves out (combine_job.h), what is no recording of one process, and, where there are
// several hosts, what the clocks cannot be aligned of (align_run.h). Error: nothing is left, or it
// was stopped. Memory as LoadJob.
Result<MergePlan> PlanMerge(const std::vector<std::string>& paths, const JobOptions& options);

}  // namespace traceinject
