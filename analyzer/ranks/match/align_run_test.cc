// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/align_run.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// A rank of two with an AllReduce every 10 ms, on a clock that is ahead.
Rank RankAhead(int rank, const std::string& host, TimeNs ahead, int operations = 100) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, rank, 0);
  for (int i = 0; i < operations; ++i) {
    const TimeNs start = ahead + i * 10 * kMs;
    const std::uint32_t launch = builder.AddApi(start, start + 5'000, "cudaLaunchKernel");
    builder.AddCall({start - 1'000, start + 6'000, "AllReduce", 1 << 20, communicator});
    // Each comes at its own time; they leave together.
    builder.AddKernel(start + (rank + 1) * kMs, start + 8 * kMs, "ncclDevKernel_AllReduce_Sum",
                      launch);
    builder.AddStepMark(start + 9 * kMs);
  }
  Rank made = std::move(builder.rank());
  made.rank = rank;
  made.path = "run.rank0000" + std::to_string(rank) + ".db";
  made.process.host = host;
  made.start = ahead;
  made.end = ahead + operations * 10 * kMs;
  return made;
}

TEST(AlignRunTest, RanksOfTwoHostsGetOneClock) {
  constexpr TimeNs kAhead = 700 * kMs;
  traceinject::Run run;
  run.ranks = {RankAhead(0, "a", 0), RankAhead(1, "b", kAhead)};
  const std::vector<std::string> said = AlignRun(run);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("clocks of 2 ranks aligned"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("700.0 ms"), std::string::npos) << said[0];
  const Rank &a = run.ranks[0], &b = run.ranks[1];
  for (const std::size_t row : {std::size_t{0}, std::size_t{99}}) {
    EXPECT_LE(std::abs(a.devices[0].ops.end[row] - b.devices[0].ops.end[row]), 5'000);
    EXPECT_LE(std::abs(a.api.start[row] - b.api.start[row]), 5'000);
    EXPECT_LE(std::abs(a.step_marks.time[row] - b.step_marks.time[row]), 5'000);
  }
  EXPECT_LE(std::abs(a.end - b.end), 5'000);
  EXPECT_EQ(b.read_until, kOpen);
}

TEST(AlignRunTest, RanksOfOneHostStayAsTheyAre) {
  traceinject::Run run;
  run.ranks = {RankAhead(0, "a", 0), RankAhead(1, "a", 700 * kMs)};
  EXPECT_TRUE(AlignRun(run).empty());
  EXPECT_EQ(run.ranks[1].start, 700 * kMs);
}

TEST(AlignRunTest, AMergedFileStaysAsItIsAndItsMergeIsSaid) {
  traceinject::Run run;
  run.ranks = {RankAhead(0, "a", 0), RankAhead(1, "b", 300)};
  for (Rank& rank : run.ranks) rank.path = "merged.db";
  run.ranks[1].clock_shift = -700 * kMs;
  const std::vector<std::string> said = AlignRun(run);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("shifts up to 700.0 ms"), std::string::npos) << said[0];
  EXPECT_EQ(run.ranks[1].start, 300);
}

TEST(AlignRunTest, WhatCannotBeAlignedIsSaid) {
  traceinject::Run run;
  run.ranks = {RankAhead(0, "a", 0), RankAhead(1, "b", 700 * kMs, 1)};
  run.ranks[1].communicators[0].hash = 1;  // another communicator: they share nothing
  const std::vector<std::string> said = AlignRun(run);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said[0].find("the clock of rank"), std::string::npos) << said[0];
  EXPECT_EQ(run.ranks[1].start, 700 * kMs);
}

}  // namespace
}  // namespace traceinject
