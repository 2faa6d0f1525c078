// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/pinned_uploads.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyzer/metrics/copies.h"

namespace traceinject {
namespace {

constexpr std::int64_t kLeastBytes = 1 << 20;  // less takes no time that counts

bool IsLargeUpload(const Transfer& transfer) {
  return transfer.kind == kHostToDevice && transfer.bytes >= kLeastBytes;
}

// The copies of one step, from `first` of the list on.
void KeepWhatDoesNotFit(TimeNs step_ns, std::size_t first, std::vector<OpLength>& uploads) {
  TimeNs total_ns = 0;
  for (std::size_t i = first; i < uploads.size(); ++i) total_ns += uploads[i].length_ns;
  const TimeNs left_ns = std::clamp<TimeNs>(2 * total_ns - step_ns, 0, total_ns);
  for (std::size_t i = first; i < uploads.size(); ++i) {
    const double share = static_cast<double>(left_ns) / static_cast<double>(total_ns);
    uploads[i].length_ns = std::llround(static_cast<double>(uploads[i].length_ns) * share);
  }
}

}  // namespace

std::vector<OpLength> HidePinnedUploads(const Rank& rank, const Device& device,
                                        const Steps& steps) {
  const GpuOps& ops = device.ops;
  std::vector<OpLength> uploads;
  const auto from = [&](TimeNs time) {
    return static_cast<std::uint32_t>(std::lower_bound(ops.start.begin(), ops.start.end(), time) -
                                      ops.start.begin());
  };
  for (const Step& step : steps.steps) {
    const std::size_t first = uploads.size();
    const std::uint32_t end = from(step.time.end);
    for (std::uint32_t row = from(step.time.start); row < end; ++row) {
      if (ops.kind[row] != OpKind::kMemcpy) continue;
      const Transfer& transfer = rank.transfers[ops.detail[row]];
      if (IsLargeUpload(transfer) && transfer.src_kind == kPinned && ops.end[row] > ops.start[row])
        uploads.push_back({row, ops.end[row] - ops.start[row]});
    }
    if (uploads.size() > first) KeepWhatDoesNotFit(step.length_ns(), first, uploads);
  }
  return uploads;
}

bool UploadsFromPinned(const Rank& rank) {
  bool some = false;
  for (const Transfer& transfer : rank.transfers) {
    if (!IsLargeUpload(transfer)) continue;
    if (transfer.src_kind != kPinned) return false;
    some = true;
  }
  return some;
}

}  // namespace traceinject
