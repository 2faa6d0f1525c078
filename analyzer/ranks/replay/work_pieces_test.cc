// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/work_pieces.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "analyzer/model/testing/units.h"
#include "analyzer/ranks/replay/job_replay.h"
#include "analyzer/ranks/testing/job_builder.h"

namespace traceinject {
namespace {

constexpr std::size_t kSteps = 6;

// Two ranks that do two micro-batches each and then move data for 1 ms, in steps of 11 ms. Rank 0
// takes 2 and 8 ms, rank 1 takes 6 and 2 ms and waits.
Job TwoMicroBatches() {
  JobBuilder builder;
  for (const char* host : {"a", "b"}) builder.AddSteps(builder.AddRank(host), kSteps, 11 * kMs);
  builder.AddGroup(7, {0, 1});
  const TimeNs lengths[2][2] = {{2 * kMs, 8 * kMs}, {6 * kMs, 2 * kMs}};
  for (std::size_t r = 0; r < 2; ++r) {
    RankSummary& rank = builder.job.ranks[r];
    rank.work_kinds = {"forward"};
    for (std::size_t step = 0; step < kSteps; ++step) {
      const TimeNs begin = static_cast<TimeNs>(step) * 11 * kMs;
      TimeNs at = begin;
      for (int m = 0; m < 2; ++m) {
        rank.work.start.push_back(at);
        rank.work.end.push_back(at += lengths[r][m]);
        rank.work.kind.push_back(0);
        rank.work.micro_batch.push_back(m);
        rank.work.step.push_back(static_cast<std::uint32_t>(step));
      }
      builder.AddOperation(r, 7, {at, begin + 11 * kMs}, begin + 11 * kMs - at);
    }
  }
  return builder.job;
}

struct PlayedInPieces {
  explicit PlayedInPieces(Job with)
      : job(std::move(with)), groups(MatchRanks(job).groups), steps(NumberSteps(job, groups)) {
    for (const RankSummary& summary : job.ranks) own.emplace_back(summary);
    pieces = WorkPieces(job, groups, steps, own, std::vector<std::uint32_t>(2, kNone));
    replay.emplace(job, groups, steps, own, pieces);
  }
  std::vector<double> With(WorkPieces::Alike alike) const {
    const PieceFactors factors = pieces.AtMean(alike);
    JobChange change;
    change.piece = [&](std::size_t rank, std::size_t piece) { return factors[rank][piece]; };
    return replay->Play(change);
  }

  Job job;
  std::vector<MatchedGroup> groups;
  JobSteps steps;
  std::vector<OwnTime> own;
  WorkPieces pieces;
  std::optional<JobReplay> replay;
};

TEST(WorkPiecesTest, AreTheOperationsThatAreTold) {
  const PlayedInPieces played(TwoMicroBatches());
  EXPECT_TRUE(played.pieces.are_told());
  ASSERT_EQ(played.pieces.of_ranks()[1].size(), 2 * kSteps);
  const WorkPiece& piece = played.pieces.of_ranks()[1][2];
  EXPECT_EQ(piece.step, 1U);
  EXPECT_EQ(piece.micro_batch, 0);
  EXPECT_EQ(piece.start, 8 * kMs) << "on own time, without the 3 ms in which it was blocked";
  EXPECT_EQ(piece.length(), 6 * kMs);
}

// 18 ms in 4 pieces are 4.5 ms each: 9 ms a rank, and 1 ms to move the data.
TEST(WorkPiecesTest, TakeTheMeanOfAllRanksOfTheStage) {
  const PlayedInPieces played(TwoMicroBatches());
  EXPECT_EQ(played.replay->Play({}), std::vector<double>(kSteps - 1, 11.0 * kMs));
  for (const double length : played.With(WorkPieces::Alike::kOfStage))
    EXPECT_NEAR(length, 10.0 * kMs, 1);
  for (const double length : played.With(WorkPieces::Alike::kOfRank))
    EXPECT_NEAR(length, 11.0 * kMs, 1) << "the same work on each rank";
}

// Each piece by itself: one factor for a rank and step cannot say this.
TEST(WorkPiecesTest, APieceAloneMayChange) {
  const PlayedInPieces played(TwoMicroBatches());
  JobChange change;
  change.piece = [&](std::size_t rank, std::size_t piece) {
    return rank == 0 && played.pieces.of_ranks()[0][piece].micro_batch == 1 ? 0.5 : 1;
  };
  EXPECT_EQ(played.replay->Play(change), std::vector<double>(kSteps - 1, 9.0 * kMs));
}

}  // namespace
}  // namespace traceinject
