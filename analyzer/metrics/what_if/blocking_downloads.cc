// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/blocking_downloads.h"

#include <algorithm>
#include <cmath>

#include "analyzer/metrics/idle/copies.h"

namespace traceinject {
namespace {

constexpr std::int64_t kMinDownloadBytes = 1 << 20;  // less takes as long from any memory

// The host was saving the program then.
bool IsCheckpoint(const HostTimeline& timeline, TimeNs time) {
  const auto after = std::upper_bound(
      timeline.segments.begin(), timeline.segments.end(), time,
      [](TimeNs moment, const HostSegment& segment) { return moment < segment.time.start; });
  if (after == timeline.segments.begin()) return false;
  const HostSegment& segment = *std::prev(after);
  return segment.cause == IdleCause::kCheckpoint && time < segment.time.end;
}

}  // namespace

BlockingDownloads FindBlockingDownloads(const Rank& rank, const Device& device,
                                        const HostTimeline& timeline, const Steps& steps,
                                        double rate) {
  const GpuOps& ops = device.ops;
  const std::vector<TimeNs> cuts = steps.cuts();
  BlockingDownloads found;
  found.saved_ns.resize(steps.steps.size());
  std::size_t step = 0;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] != OpKind::kMemcpy || ops.launch[row] == kNone) continue;
    const Transfer& transfer = rank.transfers[ops.detail[row]];
    if (transfer.kind != kDeviceToHost || transfer.dst_kind != kPageable ||
        transfer.bytes < kMinDownloadBytes)
      continue;
    const std::uint32_t call = ops.launch[row];
    if (rank.api.end[call] < ops.end[row] || IsCheckpoint(timeline, rank.api.start[call])) continue;
    const TimeNs length = ops.end[row] - ops.start[row];
    const auto pinned =
        static_cast<TimeNs>(std::llround(static_cast<double>(transfer.bytes) / rate));
    if (pinned >= length) continue;
    found.lengths.push_back({row, pinned});
    while (step < steps.steps.size() && cuts[step + 1] <= ops.start[row]) ++step;
    if (step < steps.steps.size() && ops.start[row] >= cuts[step])
      found.saved_ns[step] += length - pinned;
  }
  return found;
}

}  // namespace traceinject
