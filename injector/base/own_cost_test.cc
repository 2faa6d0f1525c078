// SPDX-License-Identifier: Apache-2.0
#include "injector/base/own_cost.h"

#include <gtest/gtest.h>

#include <thread>

namespace traceinject {
namespace {

void Spin(std::int64_t ns) {
  const std::int64_t end = ReadClockNs(CLOCK_MONOTONIC) + ns;
  while (ReadClockNs(CLOCK_MONOTONIC) < end) {
  }
}

// What a fresh thread's events add to the counter of costs, and how many samples.
template <typename Event>
std::pair<std::int64_t, std::int64_t> Cost(unsigned events, Event event) {
  const std::int64_t ns = g_counters.Get(Health::kGemmOwnNs),
                     samples = g_counters.Get(Health::kOwnSamples);
  std::thread([&] {
    for (unsigned i = 0; i < events; ++i) event();
  }).join();
  return {g_counters.Get(Health::kGemmOwnNs) - ns, g_counters.Get(Health::kOwnSamples) - samples};
}

TEST(OwnCostTest, OneOfManyEventsIsASample) {
  const auto event = [] { const OwnCost cost(Health::kGemmOwnNs); };
  const std::int64_t samples = Cost(10 * OwnCost::kEvery, event).second;
  // One that lost its processor is left out.
  EXPECT_LE(samples, 10);
  EXPECT_GE(samples, 5);
}

TEST(OwnCostTest, StandsForAllEvents) {
  const auto [ns, samples] = Cost(10 * OwnCost::kEvery, [] {
    const OwnCost cost(Health::kGemmOwnNs);
    Spin(2000);
  });
  ASSERT_GT(samples, 0);
  EXPECT_GE(ns, samples * OwnCost::kEvery * 1000) << "the clock's own time is taken off";
}

TEST(OwnCostTest, TheProgramsCallIsNotOurs) {
  constexpr std::int64_t kCallNs = 200'000;
  const auto [ns, samples] = Cost(3 * OwnCost::kEvery, [] {
    OwnCost cost(Health::kGemmOwnNs);
    cost.Leave();
    Spin(kCallNs);
    cost.Enter();
  });
  ASSERT_GT(samples, 0);
  EXPECT_LT(ns, samples * OwnCost::kEvery * kCallNs);
}

TEST(OwnCostTest, ThreadsOfFewEventsHaveSamplesTogether) {
  std::int64_t all = 0;
  for (unsigned i = 0; i < 4 * OwnCost::kEvery; ++i)
    all += Cost(2, [] { const OwnCost cost(Health::kGemmOwnNs); }).second;
  EXPECT_GT(all, 0);
}

}  // namespace
}  // namespace traceinject
