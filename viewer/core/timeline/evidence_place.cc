// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/evidence_place.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {
namespace {

bool HasEvent(const Row& row, TimeNs start, TimeNs end) {
  for (const Lane& lane : row.lanes) {
    const std::size_t event = lane.FirstEndingAfter(start);
    if (event < lane.size() && lane.start(event) == start && lane.end(event) == end) return true;
  }
  return false;
}

// The row of the GPU, or any row of the thread.
bool Fits(const Run& run, const Row& row, const proto::Evidence& evidence) {
  const Rank& rank = run.ranks[row.rank];
  if (evidence.has_thread()) {
    return row.thread != kNone && rank.threads[row.thread].tid == evidence.thread();
  }
  return row.kind == RowKind::kDevice && rank.devices[row.device].ordinal == evidence.device();
}

}  // namespace

std::optional<Measure> PlaceOnTimeline(const Run& run, const RowModel& model,
                                       const proto::Evidence& evidence) {
  if (!evidence.has_start_ns() || !evidence.has_end_ns()) return std::nullopt;
  Measure place{model.origin + evidence.start_ns(), model.origin + evidence.end_ns(), kNone};
  for (std::uint32_t index = 0; index < model.rows.size(); ++index) {
    const Row& row = model.rows[index];
    if (static_cast<std::int64_t>(row.rank) != evidence.source()) continue;
    if (!Fits(run, row, evidence)) continue;
    // Of a thread's rows the one with the very event, else the one of its CUDA calls.
    if (HasEvent(row, place.start, place.end)) {
      place.row = index;
      break;
    }
    if (place.row == kNone || row.kind == RowKind::kCalls) place.row = index;
  }
  if (place.row == kNone) return std::nullopt;
  return place;
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
