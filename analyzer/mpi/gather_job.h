// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/ranks/load/load_job.h"

namespace traceinject {

// LoadJob() by all processes together: each summarizes its share of the files that it sees, and
// process 0 puts the summaries together. The same job whatever the number of processes; empty on
// the others than process 0. To be called by all.
std::optional<Result<Job>> GatherJob(const std::vector<std::string>& paths,
                                     const JobOptions& options, MPI_Comm processes);

}  // namespace traceinject
