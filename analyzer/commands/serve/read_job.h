// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "analyzer/commands/record/live_report.h"
#include "analyzer/commands/record/steps_so_far.h"
#include "analyzer/commands/serve/served_job.h"

namespace traceinject {

// Those of the recordings that a process writes to.
std::set<std::string> WritersOf(const JobFiles& job);

// Reads the last seconds of a job anew. `now_unix_ns`: to tell who has not written for a while.
// `label`: of its metrics. The state has to be taken before, so that what is written meanwhile is
// read the next time.
ServedJob ReadJob(const JobFiles& files, const JobState& state, const LiveOptions& options,
                  StepsSoFar& steps, const std::string& label, std::int64_t now_unix_ns);

}  // namespace traceinject
