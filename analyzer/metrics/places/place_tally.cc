// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/place_tally.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace traceinject {

double TimeByPlace::share_of_first(std::size_t count) const {
  double ns = 0;
  for (std::size_t i = 0; i < std::min(count, places.size()); ++i) ns += places[i].ns;
  return total_ns > 0 ? ns / static_cast<double>(total_ns) : 0;
}

ShareBounds BoundsOfShare(double share, std::int64_t all) {
  if (all <= 0) return {};
  constexpr double kZ = 1.96;
  const auto n = static_cast<double>(all);
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {share, std::clamp(middle - half, 0.0, share), std::clamp(middle + half, share, 1.0)};
}

PlaceTally::Found& PlaceTally::At(const CodeSite& site, double weight) {
  Found& found = found_[site.key()];
  found.site = site;
  found.libraries[site.library] += weight;
  if (site.stack != kNone) found.stacks[site.stack] += weight;
  return found;
}

void PlaceTally::AddExact(const CodeSite& site, TimeNs ns) {
  At(site, static_cast<double>(ns)).exact_ns += ns;
  exact_ns_ += ns;
}

void PlaceTally::AddLooks(const CodeSite& site, const LooksIn& looks) {
  constexpr double kWorthNs = 1e6;  // beside exact time, where there is both
  Found& found = At(site, kWorthNs * looks.looks);
  found.looks += looks.looks;
  found.known += looks.known;
  looks_ += looks.looks;
  known_ += looks.known;
}

TimeByPlace PlaceTally::Finish() const {
  TimeByPlace all;
  all.total_ns = sampled_ns_ + exact_ns_;
  all.looks = known_;
  if (known_ == 0) all.unknown_ns = sampled_ns_;
  for (const auto& [key, found] : found_) {
    const ShareBounds share =
        known_ > 0 ? BoundsOfShare(found.looks / looks_, known_) : ShareBounds{0, 0, 0};
    const auto exact = static_cast<double>(found.exact_ns),
               sampled = static_cast<double>(sampled_ns_);
    PlaceTime time;
    time.site = found.site;
    time.site.stack = kNone;
    time.site.library = std::ranges::max_element(found.libraries, {}, [](const auto& one) {
                          return one.second;
                        })->first;
    time.ns = exact + share.share * sampled;
    time.low_ns = exact + share.low * sampled;
    time.high_ns = exact + share.high * sampled;
    time.looks = found.known;
    time.stacks = found.stacks;
    all.places.push_back(std::move(time));
  }
  std::ranges::stable_sort(all.places, std::greater(), &PlaceTime::ns);
  return all;
}

TimeByPlace SumOf(std::span<const TimeByPlace* const> parts) {
  TimeByPlace all;
  std::map<SiteKey, PlaceTime> places;
  for (const TimeByPlace* part : parts) {
    all.total_ns += part->total_ns;
    all.unknown_ns += part->unknown_ns;
    all.looks += part->looks;
    for (const PlaceTime& time : part->places) {
      PlaceTime& sum = places.try_emplace(time.site.key(), PlaceTime{time.site}).first->second;
      sum.ns += time.ns;
      sum.low_ns += time.low_ns;
      sum.high_ns += time.high_ns;
      sum.looks += time.looks;
      double weights = 0;
      for (const auto& [stack, weight] : time.stacks) weights += weight;
      for (const auto& [stack, weight] : time.stacks)
        sum.stacks[stack] += weights > 0 ? time.ns * weight / weights : 0;
    }
  }
  for (auto& [key, time] : places) all.places.push_back(std::move(time));
  std::ranges::stable_sort(all.places, std::greater(), &PlaceTime::ns);
  return all;
}

}  // namespace traceinject
