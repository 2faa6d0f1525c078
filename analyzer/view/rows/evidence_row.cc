// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/evidence_row.h"

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
bool SpeaksOf(const proto::Evidence& evidence, const Run& run, const Row& row) {
  const Rank& rank = run.ranks[row.rank];
  if (evidence.has_thread()) {
    return row.thread != kNone && rank.threads[row.thread].tid == evidence.thread();
  }
  return row.kind == RowKind::kDevice && rank.devices[row.device].ordinal == evidence.device();
}

}  // namespace

std::uint32_t RowOfEvidence(const Run& run, const RowModel& model,
                            const proto::Evidence& evidence) {
  if (!evidence.has_start_ns() || !evidence.has_end_ns()) return kNone;
  std::uint32_t found = kNone;
  for (std::uint32_t index = 0; index < model.rows.size(); ++index) {
    const Row& row = model.rows[index];
    if (static_cast<std::int64_t>(row.rank) != evidence.source()) continue;
    if (!SpeaksOf(evidence, run, row)) continue;
    if (HasEvent(row, model.origin + evidence.start_ns(), model.origin + evidence.end_ns()))
      return index;
    if (found == kNone || row.kind == RowKind::kCalls) found = index;
  }
  return found;
}

}  // namespace traceinject
