// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/place_tally.h"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/metrics/places/looks.h"

namespace traceinject {
namespace {

TEST(BoundsOfShare, HoldTheTruthAboutAsOftenAsTheySay) {
  std::mt19937 random(7);
  int held = 0, tries = 0;
  for (const double truth : {0.02, 0.1, 0.5, 0.84, 0.98}) {
    for (const int looks : {20, 100, 1000}) {
      std::binomial_distribution<std::int64_t> draw(looks, truth);
      for (int i = 0; i < 400; ++i, ++tries) {
        const ShareBounds bounds = BoundsOfShare(static_cast<double>(draw(random)) / looks, looks);
        held += bounds.low <= truth && truth <= bounds.high;
      }
    }
  }
  EXPECT_GT(held, 0.93 * tries);
  EXPECT_LT(held, 0.98 * tries);
}

TEST(PlaceTally, ExactTimeHasNoInterval) {
  PlaceTally tally;
  tally.AddExact({1, 5, true}, 300);
  tally.AddTime(100);
  tally.AddLooks({2, kNone, true}, {3, 3});
  tally.AddLooks({1, 5, true}, {1, 1});
  const TimeByPlace found = tally.Finish();
  EXPECT_EQ(found.total_ns, 400);
  ASSERT_EQ(found.places.size(), 2U);
  EXPECT_EQ(found.places[0].site.place, 1U);
  EXPECT_EQ(found.places[0].site.library, 5U);
  EXPECT_DOUBLE_EQ(found.places[0].ns, 325);
  EXPECT_GE(found.places[0].low_ns, 300);
  EXPECT_DOUBLE_EQ(found.places[1].ns, 75);
  EXPECT_DOUBLE_EQ(found.share_of_first(1), 325.0 / 400);
}

TEST(PlaceTally, TimeThatNobodyLookedAtIsUnknown) {
  PlaceTally tally;
  tally.AddTime(100);
  tally.AddExact({1, kNone, true}, 50);
  EXPECT_EQ(tally.Finish().unknown_ns, 100);
  EXPECT_DOUBLE_EQ(tally.Finish().places.at(0).high_ns, 50);
}

TEST(Looks, TheEndsOfARunStandForIt) {
  const LookRun run{100, 190, 10, 0};
  EXPECT_EQ(LooksInside(run, {100, 191}).known, 10);
  EXPECT_DOUBLE_EQ(LooksInside(run, {0, 1000}).looks, 10);
  EXPECT_EQ(LooksInside(run, {101, 190}).known, 0);  // nobody knows
  EXPECT_EQ(LooksInside(run, {100, 101}).known, 1);
  EXPECT_DOUBLE_EQ(LooksInside(run, {100, 101}).looks, 5);
  EXPECT_DOUBLE_EQ(LooksInside(run, {190, 300}).looks, 5);
  EXPECT_EQ(LooksInside(run, {191, 300}).known, 0);
  EXPECT_EQ(LooksInside({5, 5, 1, 0}, {5, 6}).known, 1);
  EXPECT_EQ(LooksInside({5, 5, 1, 0}, {6, 7}).known, 0);
}

}  // namespace
}  // namespace traceinject
