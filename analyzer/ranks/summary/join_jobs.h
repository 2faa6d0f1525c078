// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

// All ranks and notes of the jobs, in their order, on the smallest base. O(rows).
Job JoinJobs(std::vector<Job> jobs);

}  // namespace traceinject
