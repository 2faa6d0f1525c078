// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/decide.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

CauseSaving Saving(std::string_view label, double saved, double spread = 0) {
  return {label, saved, saved - spread, saved + spread, std::vector<double>(100, saved)};
}

Savings SavingsOf(std::vector<CauseSaving> causes) {
  Savings savings;
  savings.step_ns = 100e6;
  savings.steps = 20;
  savings.causes = std::move(causes);
  return savings;
}

Grounds GoodGrounds(double busy) {
  Grounds grounds;
  grounds.source = StepSource::kMarks;
  grounds.working.kernels = busy;
  return grounds;
}

TEST(DecideTest, LargestLowerBoundWins) {
  const Savings savings =
      SavingsOf({Saving("launch_bound", 22e6, 15e6), Saving("allocator", 20e6)});
  const Decision decision = Decide(savings, GoodGrounds(0.6));
  EXPECT_EQ(decision.label, "allocator");
  EXPECT_EQ(decision.runner_up->label, "launch_bound");
  EXPECT_NEAR(decision.margin, -0.02, 1e-9);
  EXPECT_NEAR(decision.confidence, 0.40, 0.01);  // the other one saves more as often as not
  ASSERT_EQ(decision.caveats.size(), 1U);
  EXPECT_NE(decision.caveats[0].find("(launch_bound) may save more, but less surely"),
            std::string::npos)
      << decision.caveats[0];
}

TEST(DecideTest, FloorIsFivePercentAndAMillisecond) {
  EXPECT_EQ(Decide(SavingsOf({Saving("allocator", 4.9e6)}), GoodGrounds(0.95)).label,
            "compute_bound");
  EXPECT_EQ(Decide(SavingsOf({Saving("allocator", 5.1e6)}), GoodGrounds(0.94)).label, "allocator");
  Savings small = SavingsOf({Saving("allocator", 0.9e6)});
  small.step_ns = 5e6;
  EXPECT_NE(Decide(small, GoodGrounds(0.8)).label, "allocator");
}

// Half of a step of a plain CUDA loop is no trifle, however short it is.
TEST(DecideTest, OfAShortStepAFifthIsEnough) {
  Savings shortest = SavingsOf({Saving("sync_bound", 0.2e6)});
  shortest.step_ns = 0.44e6;
  EXPECT_EQ(Decide(shortest, GoodGrounds(0.5)).label, "sync_bound");
  shortest.causes = {Saving("sync_bound", 0.08e6)};
  EXPECT_EQ(Decide(shortest, GoodGrounds(0.8)).label, "inconclusive");
}

TEST(DecideTest, IdleWithoutACauseIsInconclusive) {
  const Decision decision = Decide(SavingsOf({Saving("allocator", 4e6)}), GoodGrounds(0.7));
  EXPECT_EQ(decision.label, "inconclusive");
  EXPECT_FALSE(decision.abstained.empty());
}

TEST(DecideTest, AnUnrecordedWaitIsNoLabel) {
  const Savings savings = SavingsOf({Saving(kHostWaitLabel, 40e6), Saving("launch_bound", 5e6)});
  EXPECT_EQ(Decide(savings, GoodGrounds(0.5)).label, "inconclusive");
}

TEST(DecideTest, StepsThatNobodyMarkedLimitConfidence) {
  const Savings savings = SavingsOf({Saving("allocator", 20e6)});
  Grounds grounds = GoodGrounds(0.6);
  grounds.step_confidence = 0.7;
  EXPECT_EQ(Decide(savings, grounds).confidence, 1);
  grounds.source = StepSource::kStructure;
  const Decision decision = Decide(savings, grounds);
  EXPECT_EQ(decision.label, "allocator");
  EXPECT_EQ(decision.confidence, 0.7);
  ASSERT_EQ(decision.caveats.size(), 1U);
  EXPECT_NE(decision.caveats[0].find("confidence 70.0 %"), std::string::npos)
      << decision.caveats[0];
  grounds.step_confidence = 0.9;
  EXPECT_TRUE(Decide(savings, grounds).caveats.empty());
}

TEST(DecideTest, WithoutThreeStepsItIsSaidHowToGetThem) {
  const Savings savings = SavingsOf({Saving("allocator", 60e6)});
  Grounds grounds = GoodGrounds(0.3);
  grounds.source = StepSource::kWindow;
  const auto caveat = [&] { return Decide(savings, grounds).caveats.at(0); };
  EXPECT_NE(caveat().find("NVTX"), std::string::npos) << caveat();
  grounds.in_windows = true;
  EXPECT_NE(caveat().find("TRACEINJECT_WINDOW=every:100:3"), std::string::npos) << caveat();
}

TEST(DecideTest, ThinMarginHalvesConfidence) {
  const Savings savings = SavingsOf({Saving("allocator", 20e6), Saving("dataloader", 19e6)});
  const Decision decision = Decide(savings, GoodGrounds(0.6));
  EXPECT_EQ(decision.label, "allocator");
  EXPECT_DOUBLE_EQ(decision.confidence, 0.5);
  EXPECT_EQ(decision.caveats.size(), 1U);
}

TEST(DecideTest, ReplayThatMissesTheRecordingLowersConfidence) {
  Savings savings = SavingsOf({Saving("allocator", 20e6)});
  EXPECT_DOUBLE_EQ(Decide(savings, GoodGrounds(0.6)).confidence, 1);
  savings.replay_error = 0.05;
  EXPECT_NEAR(Decide(savings, GoodGrounds(0.6)).confidence, 0.5, 1e-9);
  savings.replay_error = 0.2;
  EXPECT_EQ(Decide(savings, GoodGrounds(0.6)).label, "inconclusive");
}

TEST(DecideTest, CommunicationOfAllRanksIsNotCapped) {
  Grounds grounds = GoodGrounds(0.9);
  const Savings savings = SavingsOf({Saving("comm_exposed", 20e6)});
  EXPECT_DOUBLE_EQ(Decide(savings, grounds).confidence, 0.6);
  grounds.one_rank = false;
  EXPECT_DOUBLE_EQ(Decide(savings, grounds).confidence, 1);
}

TEST(DecideTest, BadHealthAbstainsWithTheReason) {
  const Savings savings = SavingsOf({Saving("allocator", 20e6)});
  Grounds grounds = GoodGrounds(0.6);
  grounds.lost_share = 0.02;
  EXPECT_NE(Decide(savings, grounds).abstained.find("lost"), std::string::npos);
  grounds = GoodGrounds(0.6);
  grounds.health_error = true;
  EXPECT_NE(Decide(savings, grounds).abstained.find("error"), std::string::npos);
  grounds = GoodGrounds(0.6);
  grounds.joined_share = 0.5;
  EXPECT_NE(Decide(savings, grounds).abstained.find("linked"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
