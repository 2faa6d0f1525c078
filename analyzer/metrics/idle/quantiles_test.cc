// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/quantiles.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

constexpr std::array kShares = {0.0, 0.05, 0.5, 0.999};

std::array<TimeNs, kShares.size()> Of(const std::vector<TimeNs>& times) {
  TimeCounts counts;
  for (const TimeNs time : times) counts.Add(time);
  EXPECT_EQ(counts.total(), times.size());
  return QuantilesOf(counts, kShares, [&](auto visit) {
    for (const TimeNs time : times) visit(time);
  });
}

std::array<TimeNs, kShares.size()> BySorting(std::vector<TimeNs> times) {
  std::sort(times.begin(), times.end());
  std::array<TimeNs, kShares.size()> quantiles{};
  for (std::size_t i = 0; i < kShares.size(); ++i)
    quantiles[i] = times[static_cast<std::size_t>(kShares[i] * static_cast<double>(times.size()))];
  return quantiles;
}

TEST(Quantiles, AreThoseOfASortedList) {
  std::mt19937_64 random(1);
  for (const int most_bits : {1, 8, 11, 12, 20, 40, 63}) {
    for (const std::size_t count : {1, 2, 3, 100, 5000}) {
      std::vector<TimeNs> times;
      while (times.size() < count) {
        const int bits = static_cast<int>(random() % static_cast<unsigned>(most_bits)) + 1;
        times.push_back(static_cast<TimeNs>(random() >> (64 - bits)));
      }
      EXPECT_EQ(Of(times), BySorting(times)) << most_bits << " bits, " << count;
    }
  }
}

TEST(Quantiles, PlacesAscendWithTheTimes) {
  for (TimeNs time = 1; time < TimeNs{1} << 61; time += time / 100 + 1) {
    const std::size_t place = TimeCounts::PlaceOf(time), before = TimeCounts::PlaceOf(time - 1);
    ASSERT_TRUE(place == before || place == before + 1 || time > 4096) << time;
    ASSERT_GE(place, before) << time;
  }
  EXPECT_EQ(Of({kOpen, 0, kOpen - 1}), BySorting({kOpen, 0, kOpen - 1}));
}

}  // namespace
}  // namespace traceinject
