// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/burst_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace traceinject {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(BurstPlanTest, TheFirstBurstIsAtOnce) {
  const BurstPlan plan(0.005, 250 * kMs);
  EXPECT_FALSE(plan.Rests(0));
  EXPECT_EQ(plan.Wait(0), 0);
}

TEST(BurstPlanTest, ARestLastsUntilTheBudgetIsKept) {
  BurstPlan plan(0.005, 250 * kMs);
  plan.Begin(1000 * kMs);
  EXPECT_EQ(plan.Wait(1100 * kMs), 150 * kMs);
  plan.Spend(20 * kMs);
  EXPECT_FALSE(plan.IsOver(1249 * kMs));
  EXPECT_TRUE(plan.IsOver(1250 * kMs));
  plan.End(1250 * kMs, 0);
  plan.Spend(5 * kMs);  // the end has its price, too
  EXPECT_TRUE(plan.Rests(5999 * kMs));
  EXPECT_EQ(plan.Wait(5999 * kMs), kMs);
  EXPECT_FALSE(plan.Rests(6000 * kMs));
}

TEST(BurstPlanTest, ABurstGoesOnWhileThereIsBudget) {
  BurstPlan plan(0.005, 250 * kMs);
  plan.Begin(0);
  plan.Spend(kMs);
  EXPECT_FALSE(plan.IsOver(250 * kMs));
  EXPECT_EQ(plan.Wait(250 * kMs), 250 * kMs);
}

TEST(BurstPlanTest, RestsDifferByAFewPercent) {
  BurstPlan plan(0.01, 100 * kMs);
  plan.Begin(0);
  plan.Spend(10 * kMs);
  plan.End(100 * kMs, 1);
  EXPECT_TRUE(plan.Rests(1089 * kMs));
  EXPECT_FALSE(plan.Rests(1090 * kMs));
}

TEST(BurstPlanTest, PlansShareABudget) {
  BurstPlan plan(0.01, 100 * kMs);
  plan.SetShare(0.005);
  plan.Begin(0);
  plan.Spend(10 * kMs);
  plan.End(100 * kMs, 0);
  EXPECT_TRUE(plan.Rests(1999 * kMs));
  EXPECT_FALSE(plan.Rests(2000 * kMs));
}

// Whatever a burst costs, over a long time the share is kept, and used.
TEST(BurstPlanTest, TheShareIsKeptOverTime) {
  for (const std::int64_t cost : {2 * kMs, 25 * kMs, 400 * kMs}) {
    BurstPlan plan(0.005, 250 * kMs);
    std::int64_t now = 0, spent = 0;
    bool on = false;
    while (now < 600'000 * kMs) {
      if (!on && !plan.Rests(now)) {
        plan.Begin(now);
        on = true;
      }
      now += std::max<std::int64_t>(plan.Wait(now), kMs);
      if (!on) continue;
      plan.Spend(cost);
      spent += cost;
      if (!plan.IsOver(now)) continue;
      plan.End(now, 0.5);
      on = false;
    }
    const double share = static_cast<double>(spent) / static_cast<double>(now);
    EXPECT_LT(share, 0.0052) << cost;
    if (cost > 2 * kMs) {
      EXPECT_GT(share, 0.004) << cost;
    }
  }
}

}  // namespace
}  // namespace traceinject
