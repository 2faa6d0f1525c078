// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

JobPlan Plan(int tensor, int data, int pipeline) {
  return DisturbedLayout(tensor, data, pipeline, 1);
}

// The largest error of each rank's fit at nine times inside the run, in ns; sorted.
std::vector<double> Errors(const SimulatedJob& simulated, const ClockAlignment& alignment) {
  std::vector<double> errors;
  for (std::size_t rank = 0; rank < alignment.ranks.size(); ++rank) {
    double worst = 0;
    for (int eighth = 0; eighth <= 8; ++eighth) {
      const double time = static_cast<double>(simulated.truth.step_ends.back()) * eighth / 8;
      const TimeNs found = ToJob(alignment.ranks[rank], simulated.truth.LocalTime(rank, time)),
                   truth = simulated.truth.LocalTime(alignment.reference, time);
      worst = std::max(worst, std::abs(static_cast<double>(found - truth)));
    }
    errors.push_back(worst);
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

ClockAlignment Align(const SimulatedJob& simulated) {
  return AlignClocks(simulated.job, MatchRanks(simulated.job));
}

void ExpectWithin5us(int seeds, const JobPlan& plan) {
  std::vector<double> all;
  for (int seed = 0; seed < seeds; ++seed) {
    const SimulatedJob simulated = SimulateJob(plan, static_cast<std::uint64_t>(seed));
    const ClockAlignment alignment = Align(simulated);
    EXPECT_EQ(alignment.impossible, 0u) << seed;
    EXPECT_TRUE(alignment.notes.empty());
    for (const ClockFit& fit : alignment.ranks) EXPECT_TRUE(fit.aligned);
    const std::vector<double> errors = Errors(simulated, alignment);
    all.insert(all.end(), errors.begin(), errors.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_LT(all.back(), 5'000);
  std::printf("%d seeds of %d ranks: worst error of a clock %.2f us, 99th percentile %.2f us\n",
              seeds, plan.ranks(), all.back() / 1000, all[all.size() * 99 / 100] / 1000);
}

TEST(AlignClocksTest, ClocksOfEightRanksAreFound) { ExpectWithin5us(100, Plan(1, 8, 1)); }
TEST(AlignClocksTest, ClocksOf64RanksAreFound) { ExpectWithin5us(20, Plan(4, 16, 1)); }
TEST(AlignClocksTest, ClocksOfAPipelineAreFound) { ExpectWithin5us(10, Plan(2, 2, 4)); }

TEST(AlignClocksTest, TheErrorIsWithinWhatTheFitSays) {
  JobPlan plan = Plan(2, 4, 1);
  plan.end_noise_ns = 60'000;
  std::size_t beyond = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SimulatedJob simulated = SimulateJob(plan, seed);
    const ClockAlignment alignment = Align(simulated);
    for (std::size_t rank = 0; rank < alignment.ranks.size(); ++rank) {
      const double time = static_cast<double>(simulated.truth.step_ends.back());
      const double error =
          static_cast<double>(ToJob(alignment.ranks[rank], simulated.truth.LocalTime(rank, time)) -
                              simulated.truth.LocalTime(alignment.reference, time));
      ++all;
      beyond += std::abs(error) > 3 * alignment.ranks[rank].sigma_ns + 1;
    }
  }
  EXPECT_LT(beyond * 50, all);
}

TEST(AlignClocksTest, RanksOfAHostHaveOneClock) {
  JobPlan plan = Plan(2, 4, 1);
  plan.ranks_per_host = 4;
  const SimulatedJob simulated = SimulateJob(plan);
  const ClockAlignment alignment = Align(simulated);
  EXPECT_EQ(ToJob(alignment.ranks[3], 12'345), 12'345);
  EXPECT_EQ(ToJob(alignment.ranks[5], 12'345), ToJob(alignment.ranks[7], 12'345));
  EXPECT_LT(Errors(simulated, alignment).back(), 3'000);
}

// Nothing is known of clocks over a start-up of a minute: no drift is carried on into it.
TEST(AlignClocksTest, ALongStartUpMakesNoHostDisagree) {
  JobPlan plan = Plan(1, 8, 1);
  plan.ranks_per_host = 8;
  plan.end_noise_ns = 20'000;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedJob simulated = SimulateJob(plan, seed);
    for (RankSummary& rank : simulated.job.ranks) rank.start -= 60'000'000'000;
    const ClockAlignment alignment = Align(simulated);
    EXPECT_TRUE(alignment.notes.empty()) << alignment.notes[0];
  }
}

TEST(AlignClocksTest, HostsThatAreNotOneAreTold) {
  const JobPlan plan = Plan(1, 8, 1);
  SimulatedJob simulated = SimulateJob(plan);
  for (RankSummary& rank : simulated.job.ranks) rank.host = "localhost";
  const ClockAlignment alignment = Align(simulated);
  ASSERT_FALSE(alignment.notes.empty());
  EXPECT_NE(alignment.notes[0].find("host localhost disagree"), std::string::npos);
  EXPECT_LT(Errors(simulated, alignment).back(), 5'000);
}

// A GPU's times are converted to the host's clock by its own process, and some microseconds off.
TEST(AlignClocksTest, GpusOfAHostAreMicrosecondsApart) {
  constexpr TimeNs kApartNs = 18'000;
  JobPlan plan = Plan(1, 2, 1);
  plan.ranks_per_host = 2;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SimulatedJob simulated = SimulateJob(plan, seed);
    for (GroupOperations& group : simulated.job.ranks[1].groups) {
      for (std::size_t row = 0; row < group.count(); ++row) {
        group.start[row] += kApartNs;
        group.end[row] += kApartNs;
      }
    }
    const ClockAlignment alignment = Align(simulated);
    EXPECT_TRUE(alignment.notes.empty()) << alignment.notes[0];
    const TimeNs end = simulated.job.ranks[1].groups[0].end.back();
    EXPECT_NEAR(static_cast<double>(end - ToJob(alignment.ranks[1], end)), double{kApartNs}, 3'000);
  }
}

TEST(AlignClocksTest, RanksThatShareNothingAreNamed) {
  SimulatedJob simulated = SimulateJob(Plan(1, 4, 1));
  simulated.job.ranks[2].groups.clear();
  ClockAlignment alignment = Align(simulated);
  EXPECT_FALSE(alignment.ranks[2].aligned);
  EXPECT_EQ(alignment.ranks[2].reason, "shares no synchronizing collective with rank 0");
  EXPECT_EQ(alignment.notes[0], "The clocks of 1 of 4 ranks could not be aligned with the rest.");
  // Unless another rank on its host does.
  simulated.job.ranks[2].host = simulated.job.ranks[3].host;
  alignment = Align(simulated);
  EXPECT_TRUE(alignment.ranks[2].aligned);
  EXPECT_EQ(alignment.ranks[2].reason, "by its host's clock alone");
}

TEST(AlignClocksTest, TheMostThatHangTogetherHaveTheClock) {
  Job job = SimulateJob(Plan(1, 6, 1)).job;
  const Job other = SimulateJob(Plan(1, 2, 1), 2).job;
  for (RankSummary rank : other.ranks) {
    rank.groups[0].hash ^= 1;
    rank.host += " of another job";
    job.ranks.insert(job.ranks.begin(), rank);
  }
  const ClockAlignment alignment = AlignClocks(job, MatchRanks(job));
  EXPECT_EQ(alignment.reference, 2u);
  EXPECT_FALSE(alignment.ranks[0].aligned);
  EXPECT_TRUE(alignment.ranks[7].aligned);
}

TEST(AlignClocksTest, ALateBeginningIsAligned) {
  JobPlan plan = Plan(1, 8, 1);
  plan.steps = 60;
  plan.parts = {{3, 0.6, 1}, {5, 0, 0.5}};
  const SimulatedJob simulated = SimulateJob(plan);
  const std::vector<double> errors = Errors(simulated, Align(simulated));
  EXPECT_LT(errors.back(), 10'000);
}

TEST(AlignClocksTest, WhatCannotBeIsCounted) {
  SimulatedJob simulated = SimulateJob(Plan(1, 4, 1));
  GroupOperations& group = simulated.job.ranks[1].groups[0];
  for (std::size_t i = 100; i < 103; ++i) group.start[i] = group.end[i] - 1'000;
  for (std::size_t i = 100; i < 103; ++i) simulated.job.ranks[2].groups[0].end[i] -= 500'000;
  const ClockAlignment alignment = Align(simulated);
  EXPECT_EQ(alignment.impossible, 3u);
  ASSERT_EQ(alignment.notes.size(), 1u);
  EXPECT_NE(alignment.notes[0].find("3 of 240 operations on DATA_PARALLEL_GROUP ended on one "
                                    "rank before all ranks had started"),
            std::string::npos)
      << alignment.notes[0];
}

TEST(AlignClocksTest, AClockThatRunsUnevenlyIsTold) {
  JobPlan plan = Plan(1, 4, 1);
  plan.steps = 200;
  SimulatedJob simulated = SimulateJob(plan);
  GroupOperations& group = simulated.job.ranks[1].groups[0];
  const TimeNs middle = group.start[group.count() / 2];
  for (std::vector<TimeNs>* column : {&group.start, &group.end}) {
    for (TimeNs& time : *column) time += std::max<TimeNs>(0, time - middle) / 5'000;  // 200 ppm
  }
  const ClockAlignment alignment = Align(simulated);
  EXPECT_NE(alignment.ranks[1].reason.find("drift unevenly"), std::string::npos);
  EXPECT_GT(alignment.ranks[1].sigma_ns, 20'000);
  EXPECT_TRUE(alignment.ranks[2].reason.empty());
}

TEST(AlignClocksTest, AnEmptyJobHasNoClocks) { EXPECT_TRUE(AlignClocks({}, {}).ranks.empty()); }

}  // namespace
}  // namespace traceinject
