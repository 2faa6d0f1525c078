// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/finish_rank.h"

#include <algorithm>

#include "analyzer/import/finish/align_counters.h"
#include "analyzer/import/finish/find_backward_calls.h"
#include "analyzer/import/finish/join_launches.h"
#include "analyzer/import/finish/join_plans.h"
#include "analyzer/import/finish/kept_part.h"
#include "analyzer/import/finish/mark_nccl_copies.h"
#include "analyzer/import/finish/repair_clock.h"
#include "analyzer/import/finish/repair_operations.h"
#include "analyzer/import/finish/sort_rank.h"

namespace traceinject {

void FinishRank(Rank& rank, std::optional<TimeNs> from) {
  RepairClockSteps(rank);
  EndRangesWithWindows(rank);
  SortRank(rank);
  AlignCounters(rank);
  LeaveKeptPart(rank);
  if (from) LeaveLastPart(*from, rank);
  FindLastStoredCall(rank);
  FindCallsInGaps(rank);
  JoinLaunches(rank);
  FindFirstLaunch(rank);
  RepairOperations(rank);
  FindBackwardCalls(rank);
  JoinPlans(rank);
  MarkNcclCopies(rank);
  if (rank.end == kOpen) {
    rank.end = LastTimeSeen(rank);
  } else if (!rank.imported_from.empty()) {
    // The profiler's own span may end before what it recorded.
    rank.end = std::max(rank.end, LastTimeSeen(rank));
  }
}

}  // namespace traceinject
