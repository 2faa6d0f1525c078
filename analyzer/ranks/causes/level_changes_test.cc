// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/level_changes.h"

#include <gtest/gtest.h>

#include "analyzer/ranks/testing/simulated_chance.h"

namespace traceinject {
namespace {

// Noise of this standard deviation around a level.
std::vector<double> Noise(std::size_t count, double deviation, std::uint64_t seed = 1) {
  const Chance chance(seed);
  std::vector<double> series;
  for (std::size_t i = 0; i < count; ++i) series.push_back(0.05 + deviation * chance.Bell({i}));
  return series;
}

void Raise(std::vector<double>& series, std::size_t from, std::size_t to, double by) {
  for (std::size_t i = from; i < to; ++i) series[i] += by;
}

TEST(LevelChangesTest, FindsWhereASpellBeginsAndEnds) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<double> series = Noise(300, 0.01, seed);
    Raise(series, 120, 180, 0.31);
    const std::vector<RaisedSpell> spells = FindRaisedSpells(series);
    ASSERT_EQ(spells.size(), 1U) << seed;
    EXPECT_EQ(spells[0].from, 120U) << seed;
    EXPECT_EQ(spells[0].to, 180U) << seed;
    EXPECT_NEAR(spells[0].change, 0.31, 0.01) << seed;
  }
}

TEST(LevelChangesTest, SeveralAndThoseAtTheEnds) {
  std::vector<double> series = Noise(200, 0.01);
  Raise(series, 0, 10, 0.2);
  Raise(series, 60, 100, 0.5);
  Raise(series, 185, 200, 0.15);
  series[70] = 0;  // a single value ends nothing
  const std::vector<RaisedSpell> spells = FindRaisedSpells(series);
  ASSERT_EQ(spells.size(), 3U);
  EXPECT_EQ(spells[0].from, 0U);
  EXPECT_EQ(spells[0].to, 10U);
  EXPECT_EQ(spells[1].from, 60U);
  EXPECT_EQ(spells[1].to, 100U);
  EXPECT_EQ(spells[2].to, 200U);
}

TEST(LevelChangesTest, MoreThanHalfOfTheSeries) {
  std::vector<double> series = Noise(200, 0.01);
  Raise(series, 60, 200, 0.2);
  const std::vector<RaisedSpell> spells = FindRaisedSpells(series);
  ASSERT_EQ(spells.size(), 1U);
  EXPECT_EQ(spells[0].from, 60U);
}

TEST(LevelChangesTest, WhatIsShortSmallOrForeverIsNone) {
  std::vector<double> series = Noise(200, 0.01);
  Raise(series, 50, 58, 0.5);
  EXPECT_TRUE(FindRaisedSpells(series).empty()) << "8 steps";
  series = Noise(200, 0.01);
  Raise(series, 50, 90, 0.08);
  EXPECT_TRUE(FindRaisedSpells(series).empty()) << "8 %";
  series = Noise(200, 0.01);
  Raise(series, 0, 200, 0.5);
  EXPECT_TRUE(FindRaisedSpells(series).empty());
  series = Noise(200, 0.01);
  Raise(series, 5, 200, 0.5);
  EXPECT_TRUE(FindRaisedSpells(series).empty()) << "5 steps to compare with";
  EXPECT_TRUE(FindRaisedSpells({}).empty());
  EXPECT_TRUE(FindRaisedSpells(std::vector<double>(19, 1)).empty());
}

TEST(LevelChangesTest, NoiseIsNone) {
  for (const double deviation : {0.01, 0.05, 0.1, 0.2, 0.5}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed)
      EXPECT_TRUE(FindRaisedSpells(Noise(400, deviation, seed)).empty())
          << deviation << " " << seed;
  }
  // Now the one, now the other: work that is uneven from step to step.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Chance chance(seed);
    std::vector<double> series;
    for (std::uint64_t i = 0; i < 400; ++i) series.push_back(chance.Bits({i}) % 2 == 0 ? 0.3 : 0);
    EXPECT_TRUE(FindRaisedSpells(series).empty()) << seed;
  }
}

}  // namespace
}  // namespace traceinject
