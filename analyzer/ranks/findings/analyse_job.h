// SPDX-License-Identifier: Apache-2.0
// All that is found across the ranks of a job, as one message.
#pragma once

#include <cstddef>

#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

struct JobAnalysisOptions {
  std::size_t collectives = 20;  // rows of each: the longest, the most exposed, the most skewed
  bool lost_time = true;  // what each rank, stage, host and group gives back, which is played
};

// Never fails: what cannot be known is absent, with the reason in the notes. The same summaries in
// the same order give the same message. O(operations log operations).
proto::Ranks AnalyzeJob(const Job& job, const JobAnalysisOptions& options = {});

}  // namespace traceinject
