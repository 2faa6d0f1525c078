// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/calls_beneath.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/metrics/places/code_sites.h"

namespace traceinject {
namespace {

// Of the time that is divided, what a line has that says too little.
constexpr double kNearlyAll = 0.8;
// Of the line's time: what a call has to be followed, and what one beside it has to count.
constexpr double kMost = 0.5, kWorthTelling = 0.05;

// A stack from the line inwards, without the line, and how much of the time it has.
struct Calls {
  std::vector<std::uint32_t> places;
  double ns = 0;
};

std::vector<Calls> StacksBelow(const Rank& rank, const PlaceTime& line) {
  std::vector<Calls> all;
  for (const auto& [stack, ns] : line.stacks) {
    Calls& calls = all.emplace_back(Calls{{}, ns});
    for (std::uint32_t at = stack; at != kNone; at = rank.stacks[at].caller) {
      if (rank.stacks[at].place == line.site.place) break;
      calls.places.push_back(rank.stacks[at].place);
    }
    std::reverse(calls.places.begin(), calls.places.end());
  }
  return all;
}

// The places along the way that most of the time takes which have others beside them.
std::vector<std::uint32_t> Forks(std::vector<Calls> calls) {
  double all_ns = 0;
  for (const Calls& one : calls) all_ns += one.ns;
  std::vector<std::uint32_t> forks;
  for (std::size_t depth = 0; all_ns > 0; ++depth) {
    std::map<std::uint32_t, double> next;  // kNone: the calls end here
    const auto place = [depth](const Calls& one) {
      return depth < one.places.size() ? one.places[depth] : kNone;
    };
    for (const Calls& one : calls) next[place(one)] += one.ns;
    const auto most =
        std::ranges::max_element(next, {}, &std::pair<const std::uint32_t, double>::second);
    if (most == next.end() || most->first == kNone || most->second < kMost * all_ns) break;
    const auto told = std::ranges::count_if(
        next, [&](const auto& one) { return one.second >= kWorthTelling * all_ns; });
    if (told > 1) forks.push_back(most->first);
    std::erase_if(calls, [&](const Calls& one) { return place(one) != most->first; });
  }
  return forks;
}

}  // namespace

std::string CallsBeneath(const Rank& rank, const TimeByPlace& time) {
  if (time.places.empty() || time.share_of_first(1) <= kNearlyAll) return "";
  const PlaceTime& line = time.places.front();
  if (!line.site.own || line.site.place == kNone) return "";
  const std::vector<std::uint32_t> forks = Forks(StacksBelow(rank, line));
  if (forks.empty()) return "";
  std::string text = PlaceText(rank, line.site.place) + " -> " + PlaceText(rank, forks.front());
  if (forks.size() > 1) text += " -> " + PlaceText(rank, forks.back());
  return text;
}

}  // namespace traceinject
