// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/ranks/causes/job_links.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// Ranks.links.
void WriteLinks(const Job& job, const std::vector<MatchedGroup>& groups,
                const std::vector<JobLink>& links, proto::Ranks& to);

}  // namespace traceinject
