// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/job_replay.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/testing/job_builder.h"

namespace traceinject {
namespace {

// Two ranks and steps of 10 ms: rank 0 works for 5 ms and waits, rank 1 for 8 ms; then they move
// data for 2 ms.
Job EarlyAndLate(std::size_t steps) {
  JobBuilder builder;
  for (const char* host : {"a", "b"}) builder.AddSteps(builder.AddRank(host), steps, 10 * kMs);
  builder.AddGroup(7, {0, 1});
  for (std::size_t i = 0; i < steps; ++i) {
    const TimeNs start = static_cast<TimeNs>(i) * 10 * kMs;
    builder.AddOperation(0, 7, {start + 5 * kMs, start + 10 * kMs}, 5 * kMs);
    builder.AddOperation(1, 7, {start + 8 * kMs, start + 10 * kMs}, 2 * kMs);
  }
  return builder.job;
}

struct Played {
  explicit Played(Job with)
      : job(std::move(with)),
        groups(MatchRanks(job).groups),
        steps(NumberSteps(job, groups)),
        own(Own()),
        replay(job, groups, steps, own) {}
  std::vector<OwnTime> Own() const {
    std::vector<OwnTime> times;
    for (const RankSummary& summary : job.ranks) times.emplace_back(summary);
    return times;
  }

  Job job;
  std::vector<MatchedGroup> groups;
  JobSteps steps;
  std::vector<OwnTime> own;
  JobReplay replay;
};

TEST(OwnTimeTest, LeavesOutWhatBlocks) {
  const Job job = EarlyAndLate(2);
  const OwnTime own(job.ranks[0]);
  EXPECT_EQ(own.At(5 * kMs), 5 * kMs);
  EXPECT_EQ(own.At(7 * kMs), 5 * kMs);
  EXPECT_EQ(own.At(12 * kMs), 7 * kMs);
  EXPECT_EQ(own.Between({0, 20 * kMs}), 10 * kMs);
  // What overlaps counts once.
  EXPECT_EQ(OwnTime(job.ranks[0], {{4 * kMs, 6 * kMs}}).Between({0, 10 * kMs}), 4 * kMs);
}

TEST(JobReplayTest, GivesTheRecordedStepsBack) {
  const Played played(EarlyAndLate(6));
  EXPECT_EQ(played.replay.end_step() - played.replay.first_step(), 5U);
  EXPECT_EQ(played.replay.Play({}), std::vector<double>(5, 10.0 * kMs));
  EXPECT_EQ(played.replay.recorded(), std::vector<double>(5, 10.0 * kMs));
  EXPECT_EQ(played.replay.error(), 0);
}

TEST(JobReplayTest, TheLateRankHurriesUp) {
  const Played played(EarlyAndLate(6));
  JobChange change;
  change.own = [](std::size_t rank, std::size_t) { return rank == 1 ? 5.0 / 8 : 1; };
  EXPECT_EQ(played.replay.Play(change), std::vector<double>(5, 7.0 * kMs));
  // The early one alone changes nothing.
  change.own = [](std::size_t rank, std::size_t) { return rank == 0 ? 0.5 : 1; };
  EXPECT_EQ(played.replay.Play(change), std::vector<double>(5, 10.0 * kMs));
}

TEST(JobReplayTest, AFasterLink) {
  const Played played(EarlyAndLate(6));
  JobChange change;
  change.transfer = [](std::size_t) { return 0.25; };
  EXPECT_EQ(played.replay.Play(change), std::vector<double>(5, 8.5 * kMs));
}

TEST(JobReplayTest, ARankAloneTakesAsLongAsItDid) {
  Job job = EarlyAndLate(6);
  job.ranks.pop_back();
  const Played played(std::move(job));
  EXPECT_TRUE(played.groups.empty());
  EXPECT_EQ(played.replay.Play({}), std::vector<double>(5, 10.0 * kMs));
}

TEST(JobReplayTest, RanksThatDisagreeOnTheOrderDoNotHangIt) {
  JobBuilder builder;
  for (const char* host : {"a", "a"}) builder.AddSteps(builder.AddRank(host), 6, 10 * kMs);
  builder.AddGroup(7, {0, 1});
  builder.AddGroup(8, {0, 1});
  for (TimeNs start = 0; start < 60 * kMs; start += 10 * kMs) {
    for (const std::size_t rank : {std::size_t{0}, std::size_t{1}}) {
      builder.AddOperation(rank, rank == 0 ? 7 : 8, {start + 2 * kMs, start + 3 * kMs}, kMs);
      builder.AddOperation(rank, rank == 0 ? 8 : 7, {start + 6 * kMs, start + 7 * kMs}, kMs);
    }
  }
  EXPECT_EQ(Played(builder.job).replay.Play({}).size(), 5U);
}

TEST(JobReplayTest, NothingToPlay) {
  const Played played(Job{});
  EXPECT_TRUE(played.replay.empty());
  EXPECT_TRUE(played.replay.Play({}).empty());
  EXPECT_TRUE(Played(EarlyAndLate(1)).replay.empty());
}

// A recording that began a step later, and numbers its steps from there.
TEST(JobStepsTest, AreNumberedTogether) {
  Job job = EarlyAndLate(6);
  RankSummary& late = job.ranks[1];
  late.steps.erase(late.steps.begin());
  GroupOperations& group = late.groups[0];
  for (std::uint32_t& step : group.step) step = step == 0 ? kNone : step - 1;
  const JobSteps steps = NumberSteps(job, MatchRanks(job).groups);
  EXPECT_EQ(steps.count, 6U);
  EXPECT_EQ(steps.first[0], 0U);
  EXPECT_EQ(steps.first[1], 1U);
  EXPECT_EQ(steps.Find(job, 1, 0), nullptr);
  EXPECT_EQ(steps.Find(job, 1, 1), late.steps.data());
}

}  // namespace
}  // namespace traceinject
