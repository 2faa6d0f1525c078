// SPDX-License-Identifier: Apache-2.0
// Exact quantiles of very many times without a list of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Times of 0 or more, counted by size: below 2048 each by itself, others to one part in 1024.
class TimeCounts {
 public:
  void Add(TimeNs time) { ++counts_[PlaceOf(time)]; }
  std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const std::uint32_t count : counts_) total += count;
    return total;
  }

  static std::size_t PlaceOf(TimeNs time) {
    const auto bits = static_cast<std::uint64_t>(time);
    const int shift = std::max(static_cast<int>(std::bit_width(bits)) - kBits - 1, 0);
    return static_cast<std::size_t>(shift) * kParts + static_cast<std::size_t>(bits >> shift);
  }
  // Where the time stands that has `before` others before it in a sorted list: its place, and how
  // many of those before it have the same one. There must be more times than that.
  struct Rank {
    std::size_t place = 0, before = 0;
  };
  Rank Find(std::uint64_t before) const {
    std::size_t place = 0;
    for (; before >= counts_[place]; ++place) before -= counts_[place];
    return {place, static_cast<std::size_t>(before)};
  }

 private:
  static constexpr int kBits = 10;
  static constexpr std::size_t kParts = std::size_t{1} << kBits;

  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>((64 - kBits) * kParts);
};

// For each share what stands at [share * size] of the sorted list of the times that were counted,
// at least one: `walk(visit)` hands the same ones to `visit` again. O(times).
template <std::size_t kCount, typename Walk>
std::array<TimeNs, kCount> QuantilesOf(const TimeCounts& counts,
                                       const std::array<double, kCount>& shares, Walk walk) {
  const auto total = static_cast<double>(counts.total());
  std::array<TimeCounts::Rank, kCount> wanted;
  for (std::size_t i = 0; i < kCount; ++i)
    wanted[i] = counts.Find(static_cast<std::uint64_t>(shares[i] * total));
  std::array<std::vector<TimeNs>, kCount> near;  // of the same place
  walk([&](TimeNs time) {
    const std::size_t place = TimeCounts::PlaceOf(time);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (place == wanted[i].place) near[i].push_back(time);
    }
  });
  std::array<TimeNs, kCount> quantiles{};
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto at = near[i].begin() + static_cast<std::ptrdiff_t>(wanted[i].before);
    std::nth_element(near[i].begin(), at, near[i].end());
    quantiles[i] = *at;
  }
  return quantiles;
}

}  // namespace traceinject
