// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/chosen_steps.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/gpu/device_analysis.h"

namespace traceinject {
namespace {

// Ten steps of 100 ns from 0 on, the fourth one longer; the first one is not judged.
Steps TenSteps() {
  Steps steps;
  steps.source = StepSource::kMarks;
  steps.median_ns = 100;
  TimeNs time = 0;
  for (int i = 0; i < 10; ++i) {
    const TimeNs length = i == 3 ? 150 : 100;
    steps.steps.push_back({.time = {time, time + length}, .judged = i > 0});
    time += length;
  }
  return steps;
}

TEST(ChooseSteps, AreThoseWithTheFirstPlaceOfTheEvidence) {
  const ChosenSteps chosen = ChooseSteps(TenSteps(), {{760, 780}, {160, 170}, {260, 270}});
  EXPECT_LE(chosen.time.start, 760);
  EXPECT_GE(chosen.time.end, 780);
  EXPECT_EQ(chosen.reason, "judged by the verdict, with evidence in them");
}

TEST(ChooseSteps, OfThoseTheOnesWithMostEvidence) {
  const ChosenSteps chosen = ChooseSteps(TenSteps(), {{860, 880}, {960, 970}, {980, 985}});
  EXPECT_EQ(chosen.time.start, 750);
  EXPECT_EQ(chosen.text, "steps 8 to 10");
}

TEST(ChooseSteps, AreJudgedOnesWhereverTheEvidenceIs) {
  const ChosenSteps chosen = ChooseSteps(TenSteps(), {{10, 20}});
  EXPECT_GE(chosen.time.start, 100);
  EXPECT_EQ(chosen.reason, "judged by the verdict, nearest to the median");
}

TEST(ChooseSteps, WithoutEvidenceAreUsual) {
  const ChosenSteps chosen = ChooseSteps(TenSteps(), {});
  EXPECT_EQ(chosen.text, "steps 5 to 7") << "the first without the long one";
  EXPECT_TRUE(chosen.judged);
}

TEST(ChooseSteps, AreAllOfAFewAndTheWindowWhereNoneAreKnown) {
  Steps two = TenSteps();
  two.steps.resize(2);
  EXPECT_EQ(ChooseSteps(two, {}).text, "steps 1 to 2");
  EXPECT_EQ(ChooseSteps(two, {}).reason, "1 of 2 judged by the verdict, nearest to the median");
  EXPECT_FALSE(ChooseSteps(two, {}).judged);
  two.steps.resize(1);
  two.source = StepSource::kWindow;
  const ChosenSteps window = ChooseSteps(two, {});
  EXPECT_EQ(window.text, "the whole window");
  EXPECT_EQ(window.time.end, 100);
}

TEST(GuiltyRank, IsWhereTheVerdictSaysElseTheOneItIsAbout) {
  traceinject::Run run;
  for (const int rank : {4, 5, 6}) run.ranks.emplace_back().rank = rank;
  JudgedReport found;
  EXPECT_EQ(GuiltyRank(run, found), 0u);
  DeviceAnalysis judged;
  judged.rank_index = 1;
  found.judged = std::make_shared<const DeviceAnalysis>(judged);
  EXPECT_EQ(GuiltyRank(run, found), 1u);
  found.report.mutable_verdict()->set_place("host a");
  EXPECT_EQ(GuiltyRank(run, found), 1u);
  found.report.mutable_verdict()->set_place("rank 6");
  EXPECT_EQ(GuiltyRank(run, found), 2u);
}

}  // namespace
}  // namespace traceinject
