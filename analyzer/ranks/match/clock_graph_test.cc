// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/clock_graph.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

ClockFit Fit(double offset_ns, double drift, double sigma_ns = 1000, TimeNs reference = 500) {
  ClockFit fit;
  fit.offset_ns = offset_ns;
  fit.drift = drift;
  fit.sigma_ns = sigma_ns;
  fit.reference = reference;
  fit.operations = 10;
  return fit;
}

TEST(ClockGraphTest, FitsAreComposedAndInverted) {
  const ClockFit a = Fit(2e9, 80e-6), b = Fit(-7e8, -60e-6, 2000, 1'000'000);
  for (const TimeNs time : {TimeNs{0}, TimeNs{1'000'000'000}, TimeNs{3'600'000'000'000}}) {
    EXPECT_NEAR(static_cast<double>(ToJob(Composed(a, b), time) - ToJob(a, ToJob(b, time))), 0, 2);
    EXPECT_NEAR(static_cast<double>(ToJob(Inverse(a), ToJob(a, time)) - time), 0, 2);
  }
  EXPECT_NEAR(Composed(a, b).sigma_ns, 2236, 1);
}

TEST(ClockGraphTest, TheWayOfLeastUncertaintyCounts) {
  // 0 - 1 directly but badly, and through 2; 3 and 4 alone.
  const std::vector<ClockEdge> edges = {{1, 0, Fit(100'000, 0, 50'000)},
                                        {2, 0, Fit(1'000, 0, 2'000)},
                                        {2, 1, Fit(-5'000, 0, 2'000)},
                                        {3, 4, Fit(0, 0)}};
  const std::vector<ClockFit> fits = FitsFrom(0, 5, edges);
  EXPECT_EQ(ToJob(fits[0], 77), 77);
  EXPECT_EQ(ToJob(fits[2], 0), 1'000);
  EXPECT_EQ(ToJob(fits[1], 0), 6'000);
  EXPECT_NEAR(fits[1].sigma_ns, 2'828, 1);
  EXPECT_EQ(fits[1].operations, 10u);
  EXPECT_TRUE(fits[1].aligned);
  EXPECT_FALSE(fits[3].aligned);
}

}  // namespace
}  // namespace traceinject
