// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/op_range.h"

#include <algorithm>

namespace traceinject {

OpRange StartingIn(const GpuOps& ops, Interval window) {
  const auto first = std::lower_bound(ops.start.begin(), ops.start.end(), window.start);
  auto last = std::lower_bound(first, ops.start.end(), window.end);
  const auto row = [&ops](auto at) { return static_cast<std::size_t>(at - ops.start.begin()); };
  // Rows are sorted by (start, end), so if the last row starts and ends with the window, all the
  // rows left do.
  if (last != ops.start.end() && *last == window.end && ops.start.back() == window.end &&
      ops.end.back() == window.end) {
    last = ops.start.end();
  }
  return {row(first), row(last)};
}

OpRanges StartingIn(const GpuOps& ops, const Intervals& windows) {
  OpRanges ranges;
  for (const Interval& window : windows) ranges.push_back(StartingIn(ops, window));
  return ranges;
}

}  // namespace traceinject
