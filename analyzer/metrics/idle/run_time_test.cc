// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/run_time.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// Steps of 10 ms, but for those that say otherwise, from 100 ms on.
struct Played {
  std::vector<std::pair<TimeNs, StepKind>> steps;
  Interval recorded{0, 0};

  RunTime Divide(const Rank& rank) const {
    Steps found;
    found.source = StepSource::kMarks;
    found.start_ns = 100'000'000;
    GapCauses causes;
    std::vector<StepKind> kinds;
    TimeNs now = found.start_ns;
    for (const auto& [length, kind] : steps) {
      found.steps.push_back({.time = {now, now + length},
                             .warm_up = kind == StepKind::kWarmUp,
                             .irregular = kind != StepKind::kWarmUp && kind != StepKind::kRegular});
      kinds.push_back(kind);
      causes.steps.emplace_back();
      causes.steps.back().idle_ns[0] = length - 9'000'000;  // waiting for data
      now += length;
    }
    return DivideRunTime(rank, found, kinds, causes, recorded);
  }
};

Played Regular(int count) {
  Played played;
  for (int i = 0; i < count; ++i) played.steps.emplace_back(10 * kMs, StepKind::kRegular);
  return played;
}

TEST(RunTimeTest, PartsAddUpToTheRecordedTime) {
  Played played = Regular(20);
  played.steps[0] = {50 * kMs, StepKind::kWarmUp};
  played.steps[7] = {310 * kMs, StepKind::kEvaluation};
  played.steps[9] = {60 * kMs, StepKind::kCheckpoint};
  played.recorded = {0, 1'000 * kMs};
  const RunTime time = played.Divide(Rank());
  EXPECT_EQ(time.of(TimeUse::kStartUp).ns, 150 * kMs);
  EXPECT_EQ(time.of(TimeUse::kTraining).ns, 190 * kMs);
  EXPECT_EQ(time.of(TimeUse::kEvaluation).ns, 300 * kMs);
  EXPECT_EQ(time.of(TimeUse::kCheckpoint).ns, 50 * kMs);
  EXPECT_EQ(time.of(TimeUse::kShutdown).ns, 310 * kMs);
  EXPECT_EQ(time.recorded_ns, 1'000 * kMs);
  EXPECT_DOUBLE_EQ(time.goodput(), 0.19);
  EXPECT_NEAR(time.between_share(), 350.0 / 540, 1e-9);
  EXPECT_EQ(time.largest_between(), TimeUse::kEvaluation);
  EXPECT_EQ(time.of(TimeUse::kEvaluation).idle_ns[0], 300 * kMs);
}

TEST(RunTimeTest, AnIterationThatBeginsEndsAnEpoch) {
  RankBuilder builder;
  Played played = Regular(10);
  played.steps[4] = {200 * kMs, StepKind::kIrregular};
  played.recorded = {100 * kMs, 390 * kMs};
  EXPECT_EQ(played.Divide(builder.rank()).of(TimeUse::kOther).ns, 190 * kMs);
  builder.rank().workers.push_back({100, kNone, 150 * kMs, kOpen});
  EXPECT_EQ(played.Divide(builder.rank()).of(TimeUse::kEpochEnd).ns, 190 * kMs);
  builder.rank().workers.front().start = 50 * kMs;
  builder.AddDataWait(145 * kMs, 300 * kMs);
  builder.rank().data_waits.batch.back() = 3;
  EXPECT_EQ(played.Divide(builder.rank()).of(TimeUse::kEpochEnd).ns, 0);
  builder.rank().data_waits.batch.back() = 0;
  EXPECT_EQ(played.Divide(builder.rank()).of(TimeUse::kEpochEnd).ns, 190 * kMs);
}

// Every fourth step waits for a worker: that is how the program trains.
TEST(RunTimeTest, IrregularStepsThatRecurAreTraining) {
  Played played = Regular(16);
  for (int i = 3; i < 16; i += 4) played.steps[i] = {30 * kMs, StepKind::kIrregular};
  played.recorded = {100 * kMs, 340 * kMs};
  const RunTime time = played.Divide(Rank());
  EXPECT_EQ(time.of(TimeUse::kTraining).ns, 240 * kMs);
  EXPECT_EQ(time.between_share(), 0);
  EXPECT_EQ(time.goodput(), 1);
}

TEST(RunTimeTest, WhatWasNotToBeRecordedIsNoTime) {
  Rank rank;
  rank.gaps.push_back({20 * kMs, 80 * kMs, "window"});
  Played played = Regular(10);
  played.recorded = {0, 200 * kMs};
  EXPECT_EQ(played.Divide(rank).of(TimeUse::kStartUp).ns, 40 * kMs);
}

TEST(RunTimeTest, WithoutStepsAllIsOther) {
  const RunTime time = DivideRunTime(Rank(), Steps(), {}, {}, {0, 5 * kMs});
  EXPECT_EQ(time.of(TimeUse::kOther).ns, 5 * kMs);
  EXPECT_EQ(time.goodput(), 0);
}

}  // namespace
}  // namespace traceinject
