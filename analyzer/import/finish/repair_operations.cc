// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/repair_operations.h"

#include "analyzer/import/finish/device_gaps.h"
#include "analyzer/import/finish/find_lost_operations.h"
#include "analyzer/import/finish/repair_durations.h"
#include "analyzer/import/finish/repair_links.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

bool IsEarly(const Rank& rank, TimeNs end) { return end < rank.start - kOutsideNs; }
bool IsLate(const Rank& rank, TimeNs start) {
  return rank.end != kOpen && start > rank.end + kOutsideNs;
}

// Operations come in the order of their starts.
bool HasOutside(const Rank& rank, const GpuOps& ops) {
  return ops.size() > 0 && (IsEarly(rank, ops.start.front()) || IsLate(rank, ops.start.back()));
}

// A trace of others does not report when recording began and ended.
void SetAsideOutside(Rank& rank, GpuOps& ops) {
  if (!rank.imported_from.empty() || !HasOutside(rank, ops)) return;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t row = 0; row < ops.size(); ++row) {
    if (!IsEarly(rank, ops.end[row]) && !IsLate(rank, ops.start[row])) kept.push_back(row);
  }
  if (kept.size() == ops.size() || kept.empty()) return;
  rank.trust.outside += static_cast<std::int64_t>(ops.size() - kept.size());
  ApplyOrder(kept, ops.start, ops.end, ops.kind, ops.kernel_class, ops.stream, ops.detail,
             ops.correlation, ops.launch, ops.graph_node);
}

}  // namespace

void RepairOperations(Rank& rank) {
  if (!rank.trust.clock_steps.empty() && !rank.trust.clock_steps.back().repaired) {
    // No rule that rests on times can be applied.
    for (const Device& device : rank.devices)
      rank.trust.operations += static_cast<std::int64_t>(device.ops.size());
    return;
  }
  for (Device& device : rank.devices) {
    SetAsideOutside(rank, device.ops);
    rank.trust.operations += static_cast<std::int64_t>(device.ops.size());
    RepairDurations(rank, device);
  }
  // Before links are dropped: of a wrong link too the call has an operation.
  FindLostOperations(rank);
  RepairLinks(rank);
  for (Device& device : rank.devices) {
    FindDeviceGaps(rank, device.ops);
    device.ops.unrecorded = Merge(device.ops.unrecorded);
  }
}

}  // namespace traceinject
