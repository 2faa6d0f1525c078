// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/stack_slices.h"

#include <algorithm>
#include <cstddef>

namespace traceinject {
namespace {

constexpr TimeNs kMissedPeriods = 4;

// Until when a look tells where the thread stood.
TimeNs EndOfLook(const LookRuns& looks, std::size_t at, TimeNs period) {
  const TimeNs last = looks[at].last, alone = last + std::max<TimeNs>(period, 1);
  if (at + 1 == looks.size()) return alone;
  const TimeNs next = looks[at + 1].first;
  return period > 0 && next - last > kMissedPeriods * period ? alone : std::max(next, last);
}

}  // namespace

std::vector<std::uint32_t> PlacesOfStack(const Rank& rank, std::uint32_t stack) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t at = stack; at != kNone; at = rank.stacks[at].caller)
    places.push_back(rank.stacks[at].place);
  std::reverse(places.begin(), places.end());
  return places;
}

std::vector<StackSlice> SlicesOfLooks(const Rank& rank, const LookRuns& looks, TimeNs period) {
  std::vector<StackSlice> slices;
  std::vector<std::size_t> open;  // rows of the slices that go on, the outermost first
  for (std::size_t at = 0; at < looks.size(); ++at) {
    const TimeNs start = looks[at].first, end = EndOfLook(looks, at, period);
    const std::vector<std::uint32_t> places = PlacesOfStack(rank, looks[at].stack);
    std::size_t same = 0;
    while (same < std::min(open.size(), places.size()) &&
           slices[open[same]].place == places[same] && slices[open[same]].time.end >= start)
      slices[open[same++]].time.end = end;
    open.resize(same);
    for (std::size_t depth = same; depth < places.size(); ++depth) {
      open.push_back(slices.size());
      slices.push_back({places[depth], {start, end}});
    }
  }
  return slices;
}

}  // namespace traceinject
