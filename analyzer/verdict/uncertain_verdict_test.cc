// SPDX-License-Identifier: Apache-2.0
// Recordings that do not carry a verdict, or none that is sure.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/verdict/testing/simulated_verdict.h"

namespace traceinject {
namespace {

TEST(UncertainVerdictTest, ExposedCommunicationOfOneRankIsNeverCertain) {
  TrainingPlan planted;
  planted.communication_ns = 10'000'000;
  const proto::Verdict verdict = VerdictOn(planted);
  EXPECT_EQ(verdict.label(), "comm_exposed");
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), 10e6, 1e6);
  EXPECT_LE(verdict.confidence(), 0.6);
  ASSERT_EQ(verdict.caveats_size(), 1);
  EXPECT_NE(verdict.caveats(0).find("cannot be separated"), std::string::npos);
}

TEST(UncertainVerdictTest, AnUnknownLoaderIsInconclusiveAndNamesTheRemedy) {
  TrainingPlan plan;
  plan.load_ns = 40'000'000;
  plan.record_loading = false;
  const proto::Verdict verdict = VerdictOn(plan);
  EXPECT_EQ(verdict.label(), "inconclusive");
  EXPECT_NE(verdict.abstained().find("NVTX ranges around your loader"), std::string::npos);
  EXPECT_EQ(verdict.levers_size(), 0);
}

TEST(UncertainVerdictTest, WithoutStepsTheWholeWindowIsJudgedWithLittleConfidence) {
  TrainingPlan plan;
  plan.marks = false;
  plan.load_ns = 60'000'000;
  const proto::Verdict clear = VerdictOn(plan);
  EXPECT_EQ(clear.label(), "dataloader");
  EXPECT_EQ(clear.steps(), 0);
  EXPECT_LE(clear.confidence(), 0.4);
  plan.load_ns = 25'000'000;
  const proto::Verdict weak = VerdictOn(plan);
  EXPECT_EQ(weak.label(), "inconclusive");
  EXPECT_NE(weak.abstained().find("Fewer than three steps"), std::string::npos);
}

TEST(UncertainVerdictTest, ShuffledCorrelationsGetNoLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank rank = SimulatedTraining(plan).rank();
  std::vector<std::uint32_t>& launch = rank.devices[0].ops.launch;
  std::vector<std::uint32_t> reversed;
  for (std::size_t i = launch.size(); i > 0; --i) reversed.push_back(launch[i - 1]);
  launch = reversed;
  const proto::Verdict verdict = BuildReportWithVerdict(RunOf(rank), {}).verdict();
  EXPECT_EQ(verdict.label(), "inconclusive");
  EXPECT_NE(verdict.abstained().find("correlation ids"), std::string::npos);
}

TEST(UncertainVerdictTest, LostRecordsAndUnjoinedLaunchesGetNoLabel) {
  TrainingPlan plan;
  plan.load_ns = 25'000'000;
  Rank lossy = SimulatedTraining(plan).rank();
  lossy.health = {{"kernel", "seen", 1000, ""}, {"kernel", "dropped", 50, ""}};
  EXPECT_EQ(BuildReportWithVerdict(RunOf(lossy), {}).verdict().label(), "inconclusive");
  Rank unjoined = SimulatedTraining(plan).rank();
  std::vector<std::uint32_t>& launch = unjoined.devices[0].ops.launch;
  std::vector<std::uint32_t> half;
  for (std::size_t i = 0; i < launch.size(); ++i)
    half.push_back(i < launch.size() / 2 ? kNone : launch[i]);
  launch = half;
  EXPECT_EQ(BuildReportWithVerdict(RunOf(unjoined), {}).verdict().label(), "inconclusive");
}

TEST(UncertainVerdictTest, NothingRecorded) {
  const Report report = BuildReportWithVerdict({}, {});
  EXPECT_EQ(report.verdict().label(), "inconclusive");
  EXPECT_FALSE(report.verdict().abstained().empty());
}

}  // namespace
}  // namespace traceinject
