// SPDX-License-Identifier: Apache-2.0
#include "injector/options/window_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace traceinject {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

WindowPlan Plan(const char* text) {
  WindowPlan plan;
  EXPECT_TRUE(WindowPlan::Parse(text, &plan)) << text;
  return plan;
}

// The numbers of ended steps at which recording is on, of the first `count`.
std::string StepsWanted(const WindowPlan& plan, int count) {
  std::string wanted;
  for (int steps = 0; steps < count; ++steps) {
    if (plan.Wants({steps, 0})) wanted += std::to_string(steps) + " ";
  }
  return wanted;
}

TEST(WindowPlanTest, Everything) {
  const WindowPlan plan = Plan("all");
  EXPECT_TRUE(plan.Wants({0, 0}));
  EXPECT_TRUE(plan.Wants({1'000'000, 1'000'000 * kSecond}));
  EXPECT_EQ(plan.NextStep({5, kSecond}), WindowPlan::kNever);
  EXPECT_EQ(plan.NextNs({5, kSecond}), WindowPlan::kNever);
}

TEST(WindowPlanTest, StepsWithOneBeforeThem) {
  // The fifth step runs while four have ended.
  EXPECT_EQ(StepsWanted(Plan("steps:5-6"), 20), "3 4 5 ");
  EXPECT_EQ(StepsWanted(Plan("steps:1-2"), 20), "0 1 ");
  EXPECT_EQ(StepsWanted(Plan("steps:2-2"), 20), "0 1 ");
}

TEST(WindowPlanTest, OfEveryPeriodTheLastSteps) {
  EXPECT_EQ(StepsWanted(Plan("every:10:2"), 31), "7 8 9 17 18 19 27 28 29 ");
  EXPECT_EQ(StepsWanted(Plan("every:3:2"), 6), "0 1 2 3 4 5 ");
}

TEST(WindowPlanTest, Time) {
  const WindowPlan plan = Plan("seconds:30-60");
  EXPECT_FALSE(plan.Wants({7, 30 * kSecond - 1}));
  EXPECT_TRUE(plan.Wants({7, 30 * kSecond}));
  EXPECT_FALSE(plan.Wants({7, 60 * kSecond}));
  EXPECT_EQ(plan.NextStep({7, 0}), WindowPlan::kNever);
  const WindowPlan every = Plan("every:1m:2s");
  EXPECT_FALSE(every.Wants({0, 57 * kSecond}));
  EXPECT_TRUE(every.Wants({0, 58 * kSecond}));
  EXPECT_FALSE(every.Wants({0, 60 * kSecond}));
  EXPECT_TRUE(every.Wants({0, 119 * kSecond}));
}

TEST(WindowPlanTest, WithATriggerNothing) {
  const WindowPlan plan = Plan("trigger");
  EXPECT_FALSE(plan.Wants({0, 0}));
  EXPECT_FALSE(plan.Wants({100, 100 * kSecond}));
  EXPECT_EQ(plan.NextNs({0, 0}), WindowPlan::kNever);
}

TEST(WindowPlanTest, WithoutStepsSecondsCount) {
  const WindowPlan plan = Plan("every:10:2");
  EXPECT_FALSE(plan.Wants({0, 59 * kSecond}));
  EXPECT_EQ(plan.NextNs({0, 59 * kSecond}), 60 * kSecond);
  EXPECT_EQ(plan.NextNs({0, 60 * kSecond}), 67 * kSecond);
  EXPECT_TRUE(plan.Wants({0, 68 * kSecond}));
  EXPECT_FALSE(plan.Wants({0, 70 * kSecond}));
  EXPECT_EQ(plan.NextStep({0, 70 * kSecond}), 1) << "steps count once there is one";
  EXPECT_FALSE(plan.Wants({1, 78 * kSecond}));
}

TEST(WindowPlanTest, Alternating) {
  const WindowPlan plan = WindowPlan::Alternating(5);
  EXPECT_EQ(StepsWanted(plan, 22), "0 1 2 3 4 10 11 12 13 14 20 21 ");
  EXPECT_EQ(plan.NextStep({0, 0}), 5);
  EXPECT_EQ(plan.NextStep({7, 0}), 10);
}

TEST(WindowPlanTest, EdgesAreWhereItChanges) {
  for (const char* text : {"steps:5-6", "steps:1-1", "every:10:2", "every:3:2", "every:7:1"}) {
    const WindowPlan plan = Plan(text);
    for (std::int64_t steps = 0; steps < 100; ++steps) {
      std::int64_t next = steps + 1;
      while (next < 200 && plan.Wants({next, 0}) == plan.Wants({steps, 0})) ++next;
      const std::int64_t told = plan.NextStep({steps, 0});
      EXPECT_GT(told, steps) << text;
      EXPECT_LE(told, next == 200 ? WindowPlan::kNever : next) << text << ' ' << steps;
    }
  }
}

TEST(WindowPlanTest, OtherTextsAreRefused) {
  for (const char* text :
       {"", "steps", "steps:", "steps:5", "steps:0-3", "steps:6-5", "steps:a-b", "steps:-1-5",
        "seconds:60-30", "seconds:5-5", "every:100", "every:0:0", "every:2:2", "every:10:0",
        "every:60s:2", "every:60:2s", "every:10:2:1", "trigger:1", "sometimes:5"}) {
    WindowPlan plan;
    EXPECT_FALSE(WindowPlan::Parse(text, &plan)) << text;
  }
}

}  // namespace
}  // namespace traceinject
