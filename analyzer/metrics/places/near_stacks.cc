// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/near_stacks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace traceinject {

NearStacks::NearStacks(const Rank& rank, std::uint32_t thread) {
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.stack[row] == kNone || samples.thread[row] != thread) continue;
    seen_.push_back({samples.time[row], samples.stack[row]});
    if (samples.repeats[row] != 0)
      seen_.push_back({samples.time[row] + samples.span[row], samples.stack[row]});
  }
  std::stable_sort(seen_.begin(), seen_.end(),
                   [](const Seen& a, const Seen& b) { return a.time < b.time; });
}

std::vector<std::uint32_t> NearStacks::Of(const std::vector<Interval>& calls) const {
  std::vector<std::pair<TimeNs, std::uint32_t>> found;  // how far, which
  for (const Interval& call : calls) {
    const auto after =
        std::lower_bound(seen_.begin(), seen_.end(), call.start,
                         [](const Seen& one, TimeNs time) { return one.time < time; });
    std::pair<TimeNs, std::uint32_t> nearest{kFarthestNs + 1, kNone};
    if (after != seen_.end()) nearest = {std::max<TimeNs>(0, after->time - call.end), after->stack};
    if (after != seen_.begin() && call.start - std::prev(after)->time < nearest.first)
      nearest = {call.start - std::prev(after)->time, std::prev(after)->stack};
    if (nearest.first <= kFarthestNs) found.push_back(nearest);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t count = std::min(kLeast, found.size());
  while (count < found.size() && found[count].first <= kNearNs) ++count;
  std::vector<std::uint32_t> stacks;
  for (std::size_t i = 0; i < count; ++i) stacks.push_back(found[i].second);
  return stacks;
}

}  // namespace traceinject
