// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/evidence_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/view/rows/evidence_row.h"

namespace traceinject {
std::optional<Measure> PlaceOnTimeline(const Run& run, const RowModel& model,
                                       const proto::Evidence& evidence) {
  const std::uint32_t row = RowOfEvidence(run, model, evidence);
  if (row == kNone) return std::nullopt;
  return Measure{model.origin + evidence.start_ns(), model.origin + evidence.end_ns(), row};
}

std::set<std::uint32_t> RanksIn(const Run& run, const proto::Verdict& verdict) {
  std::set<std::uint32_t> ranks;
  for (std::uint32_t index = 0; index < run.ranks.size(); ++index) {
    const bool is_place =
        run.ranks[index].rank && verdict.place() == fmt::format("rank {}", *run.ranks[index].rank);
    const bool is_shown = std::any_of(
        verdict.evidence().begin(), verdict.evidence().end(), [&](const proto::Evidence& evidence) {
          return evidence.has_source() && evidence.source() == static_cast<std::int32_t>(index);
        });
    if (is_place || is_shown) ranks.insert(index);
  }
  if (ranks.empty()) ranks.insert(0);
  return ranks;
}

}  // namespace traceinject
