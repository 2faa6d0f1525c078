// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/device_gaps.h"

#include <algorithm>
#include <vector>

#include "analyzer/model/op_range.h"

namespace traceinject {
namespace {

// When the last ends that ran in the gap and was launched before it; the gap's start if none did.
// `next`: when the next gap begins, which in a damaged file may be in this one.
TimeNs EndOfLaunchedBefore(const Rank& rank, const GpuOps& ops, const CaptureGap& gap,
                           TimeNs next) {
  TimeNs end = gap.start;
  const OpRange rows = StartingIn(ops, {gap.start, std::min(gap.end, next)});
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    if (ops.launch[row] != kNone && rank.api.start[ops.launch[row]] < gap.start)
      end = std::max(end, ops.end[row]);
  }
  return std::min(end, gap.end);
}

// The one whose rows take longest.
std::uint32_t BusiestStream(const GpuOps& ops, OpRange rows) {
  std::vector<TimeNs> busy;  // by stream
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const std::uint32_t stream = ops.stream[row];
    if (stream >= busy.size()) busy.resize(stream + 1);
    busy[stream] += ops.end[row] - ops.start[row];
  }
  return static_cast<std::uint32_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
}

// When what was launched in a gap that ended at `time` is done, at the latest.
TimeNs EndOfLaunchedIn(const Rank& rank, const GpuOps& ops, TimeNs time, TimeNs next) {
  const OpRange rows = StartingIn(ops, {time, next});
  if (rows.begin == rows.end) return time;
  const std::uint32_t stream = BusiestStream(ops, rows);
  TimeNs first = kOpen, ahead = 0;
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    if (ops.stream[row] != stream) continue;
    if (first == kOpen) first = ops.start[row];
    if (ops.launch[row] == kNone) return first;  // the launch lead is not known
    ahead = std::max(ahead, ops.end[row] - rank.api.start[ops.launch[row]]);
    if (ahead >= first - time) return first;
  }
  return time + ahead;
}

}  // namespace

void FindDeviceGaps(const Rank& rank, GpuOps& ops) {
  for (std::size_t i = 0; i < rank.gaps.size(); ++i) {
    const CaptureGap& gap = rank.gaps[i];
    const TimeNs next = i + 1 < rank.gaps.size() ? rank.gaps[i + 1].start : kOpen;
    Interval lost{gap.start, gap.end};
    if (gap.planned()) lost.start = EndOfLaunchedBefore(rank, ops, gap, next);
    if (gap.end != kOpen && gap.by_launch()) lost.end = EndOfLaunchedIn(rank, ops, gap.end, next);
    ops.unrecorded.push_back(lost);
    if (gap.planned()) ops.planned_gaps.push_back(lost);
  }
}

}  // namespace traceinject
