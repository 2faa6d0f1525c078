// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/skew_causes.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/verdict/testing/judge_and_write.h"
#include "analyzer/verdict/testing/simulated_ranks.h"

namespace traceinject {
namespace {

// The verdict with findings that are as they are, or changed.
class Judged {
 public:
  explicit Judged(const std::vector<RankPlan>& plans)
      : run_(RunOfRanks(plans)),
        analysis_(AnalyzeRun(run_, {}, Depth::kCauses)),
        found_(FindBetweenRanks(analysis_)) {}

  RankFindings& found() { return found_; }
  proto::Verdict verdict() { return JudgeAndWrite(analysis_, found_).verdict(); }
  // As if each rank had been recorded without the others.
  proto::Verdict alone() { return JudgeAndWrite(analysis_, {}).verdict(); }

 private:
  traceinject::Run run_;
  RunAnalysis analysis_;
  RankFindings found_;
};

bool Mentions(const proto::Verdict& verdict, const std::string& text) {
  return std::any_of(
      verdict.evidence().begin(), verdict.evidence().end(),
      [&](const proto::Evidence& line) { return line.text().find(text) != std::string::npos; });
}

TEST(SkewCausesTest, ARankThatWorksLongerIsAStraggler) {
  const proto::Verdict verdict = Judged({{}, {}, {}, {.work_ns = 13 * kMs}}).verdict();
  EXPECT_EQ(verdict.label(), "straggler") << verdict.DebugString();
  EXPECT_EQ(verdict.place(), "rank 3");
  EXPECT_EQ(verdict.device(), "rank 3 GPU 0");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 3.0 * kMs, 0.15 * kMs);
  EXPECT_LE(verdict.saved_low_ns(), verdict.saved_ns());
  EXPECT_GE(verdict.saved_high_ns(), verdict.saved_ns());
  EXPECT_EQ(verdict.savings(0).label(), "straggler");
  EXPECT_GT(verdict.confidence(), 0.7);
  EXPECT_TRUE(Mentions(verdict, "delays the other ranks"));
  EXPECT_LE(verdict.evidence_size(), 5);
  EXPECT_GE(verdict.levers_size(), 1);
  EXPECT_EQ(verdict.caveats_size(), 0);
}

TEST(SkewCausesTest, DataThatOneRankWaitsForIsItsDataLoader) {
  const proto::Verdict verdict = Judged({{}, {}, {.data_wait_ns = 4 * kMs}, {}}).verdict();
  EXPECT_EQ(verdict.label(), "dataloader") << verdict.DebugString();
  EXPECT_EQ(verdict.place(), "rank 2");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 4.0 * kMs, 0.3 * kMs);
  EXPECT_TRUE(Mentions(verdict, "delays the other ranks"));
  EXPECT_TRUE(Mentions(verdict, "the program waited"));
  for (const proto::Saving& saving : verdict.savings()) EXPECT_NE(saving.label(), "straggler");
  EXPECT_NE(verdict.runner_up().label(), "dataloader");
}

// What its host does is not recorded, but that it alone does it is.
TEST(SkewCausesTest, ARankWhoseHostIsAwayIsAStraggler) {
  Judged judgement({{}, {}, {.sleep_ns = 6 * kMs}, {}});
  EXPECT_EQ(judgement.alone().label(), "inconclusive");
  const proto::Verdict verdict = judgement.verdict();
  EXPECT_EQ(verdict.label(), "straggler") << verdict.DebugString();
  EXPECT_EQ(verdict.place(), "rank 2");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 6.0 * kMs, 0.4 * kMs);
  for (const proto::Saving& saving : verdict.savings()) EXPECT_NE(saving.label(), kHostWaitLabel);
}

TEST(SkewCausesTest, DataThatAllRanksWaitForIsOnNone) {
  const RankPlan slow = {.data_wait_ns = 4 * kMs};
  const proto::Verdict verdict = Judged({slow, slow, slow, slow}).verdict();
  EXPECT_EQ(verdict.label(), "dataloader") << verdict.DebugString();
  EXPECT_EQ(verdict.place(), "");
}

// What one rank waits longer is little beside what all could save.
TEST(SkewCausesTest, ALittleMoreOfWhatAllWaitForIsOnNone) {
  const RankPlan slow = {.data_wait_ns = 4 * kMs};
  const proto::Verdict verdict = Judged({slow, slow, {.data_wait_ns = 5 * kMs}, slow}).verdict();
  EXPECT_EQ(verdict.label(), "dataloader") << verdict.DebugString();
  EXPECT_EQ(verdict.place(), "");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 5.0 * kMs, 0.5 * kMs);
}

// From one rank alone the wait for whoever is late looks like communication.
TEST(SkewCausesTest, WaitingInTurnIsImbalance) {
  std::vector<RankPlan> plans;
  for (int rank = 0; rank < 4; ++rank)
    plans.push_back({.more_ns = 4 * kMs, .every = 4, .first = rank});
  Judged judgement(plans);
  const proto::Verdict alone = judgement.alone(), verdict = judgement.verdict();
  EXPECT_EQ(alone.label(), "comm_exposed") << alone.DebugString();
  EXPECT_EQ(verdict.label(), "imbalance") << verdict.DebugString();
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 3.0 * kMs, 0.3 * kMs);
  EXPECT_EQ(verdict.place(), "");
}

TEST(SkewCausesTest, WaitsThatNothingExplainsAreNoCommunication) {
  std::vector<RankPlan> plans;
  for (int rank = 0; rank < 4; ++rank)
    plans.push_back({.more_ns = 4 * kMs, .every = 4, .first = rank});
  Judged judgement(plans);
  judgement.found().ranks.clear_findings();
  const proto::Verdict verdict = judgement.verdict();
  EXPECT_EQ(verdict.label(), "inconclusive");
  EXPECT_NE(verdict.abstained().find("for other ranks"), std::string::npos) << verdict.abstained();
}

// A slow link is what the exposed communication is about.
TEST(SkewCausesTest, CommunicationOverASlowLinkIsTheLinks) {
  Judged judgement({{.work_ns = 3 * kMs}, {.work_ns = 3 * kMs}});
  proto::RankFinding& finding = *judgement.found().ranks.add_findings();
  finding.set_name("slow_transport");
  finding.set_text("Transfers are slow.");
  finding.set_saved_ns(750'000);
  finding.set_saved_low_ns(700'000);
  finding.set_saved_high_ns(800'000);
  finding.add_levers("unset NCCL_P2P_DISABLE");
  finding.add_levers("the link: its width");
  const proto::Verdict below = judgement.verdict();
  EXPECT_NE(below.label(), "slow_link") << "below a millisecond";
  for (const proto::Saving& saving : below.savings()) {
    if (saving.label() != "comm_exposed") continue;
    EXPECT_NEAR(static_cast<double>(saving.saved_ns()), 250'000, 50'000);
  }
}

class ChangedFindingTest : public testing::Test {
 protected:
  Judged judgement_{{{}, {}, {}, {.work_ns = 13 * kMs}}};
};

TEST_F(ChangedFindingTest, ClocksThatAreNotAlignedLowerConfidence) {
  const double before = judgement_.verdict().confidence();
  judgement_.found().ranks.mutable_ranks(1)->clear_clock_offset_ns();
  const proto::Verdict verdict = judgement_.verdict();
  EXPECT_EQ(verdict.label(), "straggler");
  EXPECT_LT(verdict.confidence(), before);
  ASSERT_EQ(verdict.caveats_size(), 1);
  EXPECT_NE(verdict.caveats(0).find("1 of 4 clocks"), std::string::npos) << verdict.caveats(0);
}

TEST_F(ChangedFindingTest, AReplayThatMissesTheRecordingLowersConfidence) {
  judgement_.found().ranks.set_replay_error(0);
  EXPECT_DOUBLE_EQ(judgement_.verdict().confidence(), 1);
  judgement_.found().ranks.set_replay_error(0.05);
  const proto::Verdict verdict = judgement_.verdict();
  EXPECT_EQ(verdict.label(), "straggler");
  EXPECT_NEAR(verdict.confidence(), 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(verdict.replay_error(), 0.05);
}

TEST_F(ChangedFindingTest, AReplayThatFitsNothingGivesNoLabelButACaveat) {
  judgement_.found().ranks.set_replay_error(0.2);
  const proto::Verdict verdict = judgement_.verdict();
  EXPECT_NE(verdict.label(), "straggler");
  ASSERT_EQ(verdict.caveats_size(), 1);
  EXPECT_NE(verdict.caveats(0).find("(straggler) costs more per step"), std::string::npos);
}

TEST_F(ChangedFindingTest, TheLargerLowerBoundWins) {
  proto::RankFinding& finding = *judgement_.found().ranks.add_findings();
  finding.set_name("pipeline_stages");
  finding.set_saved_ns(4 * kMs);
  finding.set_saved_low_ns(2 * kMs);
  finding.set_saved_high_ns(6 * kMs);
  const proto::Verdict verdict = judgement_.verdict();
  EXPECT_EQ(verdict.label(), "straggler");
  EXPECT_EQ(verdict.runner_up().label(), "imbalance");
  EXPECT_LT(verdict.margin(), 0);
  finding.set_saved_low_ns(7 * kMs / 2);
  EXPECT_EQ(judgement_.verdict().label(), "imbalance");
}

TEST_F(ChangedFindingTest, ABubbleIsNoSurerThanItsWaits) {
  judgement_.found().ranks.clear_findings();
  proto::RankFinding& finding = *judgement_.found().ranks.add_findings();
  finding.set_name("pipeline_bubble");
  finding.set_saved_ns(4 * kMs);
  proto::Pipeline& pipeline = *judgement_.found().ranks.mutable_pipeline();
  pipeline.set_ideal_share(0.2);
  pipeline.set_bubble_share(0.1);
  const proto::Verdict verdict = judgement_.verdict();
  EXPECT_EQ(verdict.label(), "pipeline_bubble");
  EXPECT_EQ(verdict.scatter_low_ns(), 2 * kMs);
  EXPECT_LE(verdict.confidence(), 0.6);
  EXPECT_EQ(verdict.caveats_size(), 1);
}

// A formula promises more than evening the stages saves; that is asked first all the same.
TEST_F(ChangedFindingTest, StagesAreEvenedBeforeBubblesAreCounted) {
  judgement_.found().ranks.clear_findings();
  proto::RankFinding& stages = *judgement_.found().ranks.add_findings();
  stages.set_name("pipeline_stages");
  stages.set_saved_ns(2 * kMs);
  stages.set_saved_low_ns(2 * kMs);
  stages.set_saved_high_ns(2 * kMs);
  proto::RankFinding& bubble = *judgement_.found().ranks.add_findings();
  bubble.set_name("pipeline_bubble");
  bubble.set_saved_ns(4 * kMs);
  proto::Pipeline& pipeline = *judgement_.found().ranks.mutable_pipeline();
  pipeline.set_ideal_share(0.2);
  pipeline.set_bubble_share(0.3);
  EXPECT_EQ(judgement_.verdict().label(), "imbalance");
}

TEST_F(ChangedFindingTest, LeversSayWhatToLookAtAndHow) {
  proto::RankFinding& finding = *judgement_.found().ranks.mutable_findings(0);
  finding.clear_levers();
  finding.add_levers("unset NCCL_P2P_DISABLE");
  finding.add_levers("the link: its width, its errors");
  const proto::Verdict verdict = judgement_.verdict();
  ASSERT_EQ(verdict.levers_size(), 2);
  EXPECT_EQ(verdict.levers(0).setting(), "unset NCCL_P2P_DISABLE");
  EXPECT_EQ(verdict.levers(0).change(), "");
  EXPECT_EQ(verdict.levers(1).setting(), "the link");
  EXPECT_EQ(verdict.levers(1).change(), "its width, its errors");
}

}  // namespace
}  // namespace traceinject
