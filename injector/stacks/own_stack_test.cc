// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/own_stack.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(StackBudgetTest, IsAShareOfTheTime) {
  StackBudget budget;
  std::int64_t now = 1000 * kMs, taken_ns = 0;
  const std::int64_t end = now + 100'000 * kMs;
  for (; now < end; now += kMs) {
    if (!budget.HasSome(now)) continue;
    budget.Spend(20'000);
    taken_ns += 20'000;
  }
  // Of 100 s, and what a thread begins with.
  EXPECT_NEAR(static_cast<double>(taken_ns), 105e6, 1e6);
}

TEST(StackBudgetTest, AThreadThatIsPreemptedKeepsItsOtherStacks) {
  StackBudget budget;
  ASSERT_TRUE(budget.HasSome(1000 * kMs));
  for (int stack = 0; stack < 40; ++stack) {
    budget.Spend(4 * kMs);
    EXPECT_TRUE(budget.HasSome(1000 * kMs)) << stack;
  }
}

}  // namespace
}  // namespace traceinject
