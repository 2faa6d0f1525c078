// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/exposed_wait.h"

#include <algorithm>
#include <utility>

namespace traceinject {
namespace {

// Kernels between which the GPU idles for moments only are alone all the same.
bool RanAlone(const GroupOperations& group, std::size_t row) {
  return group.exposed_ns[row] * 20 >= (group.end[row] - group.start[row]) * 19;
}

}  // namespace

Intervals TimesAlone(const RankSummary& rank) {
  Intervals alone;
  for (const GroupOperations& group : rank.groups) {
    for (std::size_t row = 0; row < group.count(); ++row) {
      if (RanAlone(group, row)) alone.push_back({group.start[row], group.end[row]});
    }
  }
  return Merge(std::move(alone));
}

TimeNs ExposedWait(const GroupOperations& group, std::size_t row, TimeNs wait_ns,
                   const Intervals& alone) {
  if (RanAlone(group, row)) return std::min(wait_ns, group.exposed_ns[row]);
  const Interval wait{group.start[row], group.start[row] + wait_ns},
      transfer{wait.end, std::max(wait.end, group.end[row])};
  const TimeNs in_wait = LengthInside(alone, wait), in_transfer = LengthInside(alone, transfer);
  const TimeNs end = group.exposed_ns[row] - in_wait - in_transfer;
  const TimeNs rest = end - (transfer.end - transfer.start - in_transfer);
  return std::clamp<TimeNs>(in_wait + std::max<TimeNs>(rest, 0), 0,
                            std::min(wait_ns, group.exposed_ns[row]));
}

}  // namespace traceinject
