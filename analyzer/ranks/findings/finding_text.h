// SPDX-License-Identifier: Apache-2.0
// What findings across ranks have in common: figures in words, rows, and what to do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

std::string MeanTime(double ns);
// "12.3 %"; "unknown" of nothing.
std::string ShareText(double part, double whole);
// Where a rank runs, for somebody who has to go there.
std::string PlaceText(const RankSummary& summary);

void SetSaving(const JobSaving& saving, proto::RankFinding& to);
void AddRows(const std::vector<std::size_t>& rows, proto::RankFinding& to);
// For a rank that is late on its host, its GPU idle for this cause.
void AddHostLevers(IdleCause cause, proto::RankFinding& to);
// For a GPU that is slow.
void AddGpuLevers(proto::RankFinding& to);

}  // namespace traceinject
