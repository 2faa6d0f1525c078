// SPDX-License-Identifier: Apache-2.0
// What is served of a job, as it was read last.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analyzer/commands/serve/job_files.h"
#include "analyzer/report/formats/openmetrics.h"

namespace traceinject {

// kLost: of another machine, and not written for a while.
enum class JobPhase { kNotRead, kUnreadable, kRunning, kLost, kKilled, kEnded };
const char* PhaseName(JobPhase phase);

struct ServedJob {
  JobFiles files;
  JobState state;                 // that it was read in
  std::set<std::string> writers;  // paths that somebody wrote to then
  MetricLines metrics;            // empty: not read yet

  // A summary of the last seconds; what is not known is absent or empty.
  JobPhase phase = JobPhase::kNotRead;
  std::string problem;  // why it cannot be read
  std::int64_t processes = 0, gpus = 0;
  std::optional<std::int64_t> world_size, steps;
  std::optional<std::int64_t> step_ns, saved_ns;  // of a mean step
  std::optional<std::int64_t> seen_unix_ns;       // end of the last GPU operation
  std::optional<double> busy_share;
  std::string verdict, verdict_title, run_id;
  std::set<std::string> hosts;
};

}  // namespace traceinject
