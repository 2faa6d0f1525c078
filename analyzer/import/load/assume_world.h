// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Traces of a file with several processes may hold NCCL's kernels and nothing else of NCCL. Where
// all these processes drive one GPU each and ran the same kernels, they are taken to be the ranks
// of one communicator (kAssumedWorld), in the order of the processes; that is taken back where
// their operations do not end together (match_ranks.h, match_collectives.h). The processes stay
// without a rank of the job, as they may be a part of it. `ranks`: of one file. O(kernels).
void AssumeWorld(std::vector<Rank>& ranks);

// That in a sentence; empty: it was not done. O(processes).
std::string DescribeAssumed(const Run& run);

}  // namespace traceinject
