// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/pinned_uploads.h"

#include <algorithm>
#include <cstdint>

#include "analyzer/metrics/idle/copies.h"

namespace traceinject {
namespace {

constexpr std::int64_t kMinUploadBytes = 1 << 20;  // less takes no time that counts

bool IsLargeUpload(const Transfer& transfer) {
  return transfer.kind == kHostToDevice && transfer.bytes >= kMinUploadBytes;
}

}  // namespace

HiddenUploads HidePinnedUploads(const Rank& rank, const Device& device, const Steps& steps) {
  const GpuOps& ops = device.ops;
  HiddenUploads hidden;
  const auto from = [&](TimeNs time) {
    return static_cast<std::uint32_t>(std::lower_bound(ops.start.begin(), ops.start.end(), time) -
                                      ops.start.begin());
  };
  for (const Step& step : steps.steps) {
    TimeNs copied_ns = 0;
    const std::uint32_t end = from(step.time.end);
    for (std::uint32_t row = from(step.time.start); row < end; ++row) {
      if (ops.kind[row] != OpKind::kMemcpy) continue;
      const Transfer& transfer = rank.transfers[ops.detail[row]];
      if (!IsLargeUpload(transfer) || transfer.src_kind != kPinned) continue;
      hidden.lengths.push_back({row, 0});
      copied_ns += ops.end[row] - ops.start[row];
    }
    hidden.most_ns.push_back(std::max<TimeNs>(0, step.length_ns() - copied_ns));
  }
  return hidden;
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
