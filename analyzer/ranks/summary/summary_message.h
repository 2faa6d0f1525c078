// SPDX-License-Identifier: Apache-2.0
// A summary as the message of schemas/rank_summary.proto: columns of differences.
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

namespace proto {
class RankSummary;
}

// O(rows).
void WriteSummaryMessage(const RankSummary& from, proto::RankSummary& to);

// Error: columns do not fit together, or something is unknown. Whether the values can be is not
// looked at (CheckSummary does). O(rows).
Result<RankSummary> ReadSummaryMessage(const proto::RankSummary& from);

}  // namespace traceinject
