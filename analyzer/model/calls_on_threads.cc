// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/calls_on_threads.h"

#include <algorithm>

namespace traceinject {

std::vector<std::uint32_t> CallAround(const Rank& rank, const std::vector<TimeNs>& start,
                                      const std::vector<TimeNs>& end,
                                      const std::vector<std::uint32_t>& thread) {
  // They do not nest: the last one that began on a thread is the only one that can go on.
  std::vector<std::uint32_t> last(rank.threads.size(), kNone);
  std::vector<std::uint32_t> around(rank.api.size(), kNone);
  std::uint32_t row = 0;
  for (std::size_t call = 0; call < rank.api.size(); ++call) {
    const TimeNs time = rank.api.start[call];
    for (; row < start.size() && start[row] <= time; ++row) last[thread[row]] = row;
    const std::uint32_t began = last[rank.api.thread[call]];
    if (began != kNone && time < end[began]) around[call] = began;
  }
  return around;
}

bool IsFirstAtWork(const Rank& rank, const Device& device) {
  const auto first = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [](const Device& each) { return each.ops.size() > 0; });
  return first != rank.devices.end() && &*first == &device;
}

}  // namespace traceinject
