// SPDX-License-Identifier: Apache-2.0
// What was found across ranks, in sentences, with what to do about it.
#pragma once

#include <vector>

#include "analyzer/ranks/causes/hangs.h"
#include "analyzer/ranks/causes/pipelines.h"
#include "analyzer/ranks/causes/slow_links.h"
#include "analyzer/ranks/causes/slow_transports.h"
#include "analyzer/ranks/causes/stragglers.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/summary/rank_summary.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// Slow links and uneven stages that cost less of a step are not worth a finding.
inline constexpr double kMinSavedShare = 0.02;
// Bubbles that the schedule brings with it are one from this share of the step on.
inline constexpr double kMinBubbleShare = 0.10;

proto::RankFinding DescribeHang(const Job& job, const Hang& hang);
proto::RankFinding DescribeStraggler(const Job& job, const Straggler& straggler, double step_ns);
proto::RankFinding DescribeImbalance(const Imbalance& imbalance, double step_ns);
proto::RankFinding DescribeSlowLink(const Job& job, const SlowGroups& link, double step_ns);
proto::RankFinding DescribeSlowTransport(const Job& job, const SlowTransport& slow, double step_ns);
// Whether its saving comes from a play. Others are formulas, of how things are in theory: what was
// played is asked first, however much they promise.
bool IsPlayed(const proto::RankFinding& finding);
// What the stages cost by being uneven, and the schedule by filling and draining; those that are
// worth it. `stage_work`: StageWork(). O(plays).
std::vector<proto::RankFinding> DescribePipeline(const Job& job, const Pipelines& pipelines,
                                                 const std::vector<double>& stage_work,
                                                 const WorkPieces& pieces, const JobReplay& replay,
                                                 double step_ns);

}  // namespace traceinject
