// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_clock.h"

#include <gtest/gtest.h>

#include <limits>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

ClockFit Fit(double offset_ns, double drift, TimeNs reference) {
  ClockFit fit;
  fit.aligned = true;
  fit.offset_ns = offset_ns;
  fit.drift = drift;
  fit.reference = reference;
  return fit;
}

TEST(MergeClockTest, WithoutAFitTimesChangeTheirBaseOnly) {
  const MergeClock clock{.to_job = 100, .from_job = -30};
  EXPECT_EQ(clock.Of(0), 70);
  EXPECT_EQ(clock.Of(-5), 65);
}

TEST(MergeClockTest, AFitIsOfTimesOnTheBaseOfTheJob) {
  const ClockFit fit = Fit(5, 1e-3, 1'100);
  const MergeClock clock{.to_job = 100, .from_job = -30, .fit = fit};
  EXPECT_EQ(clock.Of(1'000), 1'000 + 70 + 5);
  EXPECT_EQ(clock.Of(11'000), 11'000 + 70 + 5 + 10);
}

TEST(MergeClockTest, WhatIsBeyondAnyClockStays) {
  const MergeClock clock{.to_job = 100};
  for (const TimeNs time : {std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()})
    EXPECT_EQ(clock.Of(time), time);
}

// The clock was set forwards by an hour; 100 ppm of that would be 360 ms.
TEST(MergeClockTest, AfterAStepATimeMovesByWhatItWouldWithoutIt) {
  const ClockFit fit = Fit(0, 1e-4, 0);
  constexpr TimeNs kHour = 3'600 * kSecond;
  const MergeClock clock{.fit = fit,
                         .steps = {{.at_ns = 10 * kSecond, .by_ns = kHour, .repaired = true}}};
  const TimeNs before = 5 * kSecond, after = 20 * kSecond;
  EXPECT_EQ(clock.Of(before), before + 500'000);
  EXPECT_EQ(clock.Of(after + kHour), after + kHour + 2'000'000);
}

}  // namespace
}  // namespace traceinject
