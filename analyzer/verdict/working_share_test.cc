// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/working_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/analyzed_device.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

class TrainedRank {
 public:
  explicit TrainedRank(const TrainingPlan& plan) {
    run_.ranks.push_back(std::move(SimulatedTraining(plan).rank()));
  }
  WorkingShares shares() const {
    const Rank& rank = run_.ranks[0];
    return WorkingSharesOf(AnalyzedDevice(rank, {rank.start, rank.end}));
  }
  proto::Verdict verdict() const { return BuildReportWithVerdict(run_, {}).verdict(); }

 private:
  traceinject::Run run_;
};

std::string EvidenceOf(const proto::Verdict& verdict) {
  std::string all;
  for (const proto::Evidence& evidence : verdict.evidence()) all += evidence.text() + "\n";
  return all;
}

TEST(WorkingShareTest, KernelsAlone) {
  const WorkingShares shares = TrainedRank({}).shares();
  EXPECT_GT(shares.kernels, 0.95);
  EXPECT_EQ(shares.own_copies, 0);
  EXPECT_LT(shares.pauses, 0.01);
}

TEST(WorkingShareTest, CopiesWithinTheDeviceAreItsOwnWork) {
  TrainingPlan plan;
  plan.shuffle_ns = 500'000;  // 5 of 25 ms
  const TrainedRank trained(plan);
  EXPECT_NEAR(trained.shares().own_copies, 0.2, 0.01);
  EXPECT_EQ(trained.verdict().label(), "compute_bound") << trained.verdict().abstained();
  EXPECT_THAT(EvidenceOf(trained.verdict()),
              testing::HasSubstr("device-to-device copies and memsets ran alone for 19.9 %"));
}

TEST(WorkingShareTest, CopiesFromTheHostAreNot) {
  TrainingPlan plan;
  plan.upload_bytes = 200'000'000;
  plan.pinned = true;
  EXPECT_EQ(TrainedRank(plan).shares().own_copies, 0);
  EXPECT_LT(TrainedRank(plan).shares().sum(), 0.87);
}

TEST(WorkingShareTest, PausesBetweenQueuedKernelsAreItsOwn) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 10;
  plan.kernel_ns = 8'000;
  plan.pause_ns = 2'000;
  plan.python_ns = plan.call_ns = 2'000;
  const TrainedRank trained(plan);
  EXPECT_NEAR(trained.shares().pauses, 0.2, 0.01);
  EXPECT_EQ(trained.verdict().label(), "compute_bound") << trained.verdict().abstained();
  EXPECT_THAT(
      EvidenceOf(trained.verdict()),
      testing::HasSubstr("the GPU paused for 20.0 % of the time between queued operations"));
}

// As fast as they are launched: each waits for its launch to reach the GPU, which is no pause.
TEST(WorkingShareTest, LatencyOfLaunchesIsNoPause) {
  TrainingPlan plan;
  plan.layers = 100;
  plan.kernels = 10;
  plan.kernel_ns = 1'500;
  plan.python_ns = plan.call_ns = 3'000;
  const TrainedRank trained(plan);
  EXPECT_LT(trained.shares().pauses, 0.05);
  EXPECT_NE(trained.verdict().label(), "compute_bound");
}

}  // namespace
}  // namespace traceinject
