// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/ranks/causes/lost_time.h"
#include "analyzer/ranks/causes/parallel_groups.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// Ranks.lost, and what of it is about single ranks in their rows.
void WriteLostTime(const Job& job, const std::vector<ParallelGroups>& uses, const LostTime& lost,
                   proto::Ranks& to);

}  // namespace traceinject
