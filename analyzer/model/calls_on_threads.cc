// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/calls_on_threads.h"

#include <algorithm>

namespace traceinject {

std::vector<std::uint32_t> CallAround(const Rank& rank, const std::vector<TimeNs>& start,
                                      const std::vector<TimeNs>& end,
                                      const std::vector<std::uint32_t>& thread) {
  std::vector<std::vector<std::uint32_t>> of_thread(rank.threads.size());
  for (std::uint32_t row = 0; row < start.size(); ++row) of_thread[thread[row]].push_back(row);
  std::vector<std::size_t> next(of_thread.size(), 0);
  std::vector<std::uint32_t> around(rank.api.size(), kNone);
  for (std::size_t call = 0; call < around.size(); ++call) {
    const std::uint32_t on = rank.api.thread[call];
    const std::vector<std::uint32_t>& rows = of_thread[on];
    const TimeNs time = rank.api.start[call];
    // They do not nest: the last one that began is the only one that can go on.
    while (next[on] < rows.size() && start[rows[next[on]]] <= time) ++next[on];
    if (next[on] == 0) continue;
    const std::uint32_t row = rows[next[on] - 1];
    if (time < end[row]) around[call] = row;
  }
  return around;
}

bool IsFirstAtWork(const Rank& rank, const Device& device) {
  const auto first = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [](const Device& each) { return each.ops.size() > 0; });
  return first != rank.devices.end() && &*first == &device;
}

}  // namespace traceinject
