// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/own_time.h"

#include <algorithm>

namespace traceinject {

OwnTime::OwnTime(const RankSummary& summary, const Intervals& also) {
  Intervals exposed = also;
  for (const GroupOperations& group : summary.groups) {
    for (std::size_t i = 0; i < group.count(); ++i)
      exposed.push_back({group.end[i] - group.blocked_ns[i], group.end[i]});
  }
  blocked_ = Merge(std::move(exposed));
  before_.reserve(blocked_.size());
  TimeNs sum = 0;
  for (const Interval& one : blocked_) {
    before_.push_back(sum);
    sum += one.end - one.start;
  }
}

TimeNs OwnTime::At(TimeNs wall) const {
  const auto next = std::upper_bound(blocked_.begin(), blocked_.end(), wall,
                                     [](TimeNs t, const Interval& one) { return t < one.start; });
  if (next == blocked_.begin()) return wall;
  const auto last = next - 1;
  return wall - before_[static_cast<std::size_t>(last - blocked_.begin())] -
         (std::min(wall, last->end) - last->start);
}

}  // namespace traceinject
