// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/calls/calls_on_threads.h"

#include <algorithm>
#include <limits>

namespace traceinject {

std::vector<std::uint32_t> CallAround(const Rank& rank, const TimeColumn& start,
                                      const TimeColumn& end, const IndexColumn& thread) {
  // They do not nest: the last one that began on a thread is the only one that can go on.
  struct Began {
    std::uint32_t row = kNone;
    TimeNs end = std::numeric_limits<TimeNs>::min();
  };
  std::vector<Began> last(rank.threads.size());
  std::vector<std::uint32_t> around(rank.api.size(), kNone);
  std::uint32_t row = 0;
  TimeNs next = start.empty() ? kOpen : start.front();
  for (std::size_t call = 0; call < rank.api.size(); ++call) {
    const TimeNs time = rank.api.start[call];
    while (next <= time && row < start.size()) {
      last[thread[row]] = {row, end[row]};
      next = ++row < start.size() ? start[row] : kOpen;
    }
    const Began& began = last[rank.api.thread[call]];
    if (time < began.end) around[call] = began.row;
  }
  return around;
}

bool IsFirstAtWork(const Rank& rank, const Device& device) {
  const auto first = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [](const Device& each) { return each.ops.size() > 0; });
  return first != rank.devices.end() && &*first == &device;
}

}  // namespace traceinject
