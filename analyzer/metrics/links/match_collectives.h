// SPDX-License-Identifier: Apache-2.0
// NCCL operations of the ranks of one loaded run that belong together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/metrics/links/collectives.h"
#include "analyzer/model/run.h"

namespace traceinject {

// One device of one process, for work across ranks.
struct NcclMember {
  const Rank* rank = nullptr;
  NcclLinks* links = nullptr;
};

// One launch of a member: indices into the list of members and into its launches.
struct MemberLaunch {
  std::size_t member = 0, launch = 0;
};

// One operation, as the recorded ranks of its communicator launched it: at most one launch a rank,
// by rank in the communicator.
using SameOperation = std::vector<MemberLaunch>;

// Finds what belongs together, for drawing: unlike EstimateTransfers it takes every operation that
// all ranks call (all but Send and Recv), and communicators of which some ranks were not recorded.
// Communicators are told apart by their hash, the operations on one by their order. Where the ranks
// recorded different sequences (one began late, or lost some), the order is aligned on function and
// bytes: launches that do not agree in both are not matched. Launches whose communicator is not
// known are matched the same way, as if all were of one communicator. O(launches) where the
// sequences agree; a place where they do not costs a search over the next few hundred.
std::vector<SameOperation> MatchOperations(const std::vector<NcclMember>& members);

// Sets transfer_ns where every rank of a communicator was recorded: communicators are told apart by
// their hash, operations on one by their order, and only if function and size agree throughout on
// all ranks. The estimate is the shortest kernel time over the ranks: the rank that came last
// waited for nobody. Needs no common clock. Returns sentences on communicators that could not be
// matched. O(launches log communicators).
std::vector<std::string> EstimateTransfers(const std::vector<NcclMember>& members);

}  // namespace traceinject
