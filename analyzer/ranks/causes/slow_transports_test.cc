// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/causes/slow_transports.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/testing/simulated_job.h"

namespace traceinject {
namespace {

constexpr double kNvlinkRate = 450;

// Data-parallel training on one host, whose all-reduces run at so much of NVLink's rate.
SimulatedJob Training(double share, int ranks = 4) {
  JobPlan plan;
  plan.data = ranks;
  const double bus_factor = 2.0 * (ranks - 1) / ranks;
  plan.data_rate = share * kNvlinkRate / bus_factor;
  SimulatedJob simulated = SimulateJob(plan);
  for (RankSummary& rank : simulated.job.ranks) rank.nvlink_gb_per_s = kNvlinkRate;
  return simulated;
}

proto::RankFinding First(const Job& job) {
  const proto::Ranks ranks = AnalyzeJob(job);
  return ranks.findings_size() == 0 ? proto::RankFinding() : ranks.findings(0);
}

TEST(SlowTransportsTest, ASlowWayCostsWhatTheUsualRateWouldSave) {
  const SimulatedJob slow = Training(0.02), usual = Training(kReachedShare);
  const proto::RankFinding found = First(slow.job);
  ASSERT_EQ(found.name(), "slow_transport") << found.text();
  const double truth = slow.truth.step_ns() - usual.truth.step_ns();
  EXPECT_NEAR(static_cast<double>(found.saved_ns()), truth, 0.05 * truth);
  EXPECT_EQ(found.rows_size(), 4);
  EXPECT_EQ(found.reason(), "");
  EXPECT_NE(found.text().find("2.0 % of NVLink (450 GB/s per direction)"), std::string::npos)
      << found.text();
}

TEST(SlowTransportsTest, TellsTheWayAndWhatIsSet) {
  SimulatedJob slow = Training(0.02);
  slow.job.ranks[1].groups[0].way = NcclTransport::kSockets;
  slow.job.ranks[2].groups[0].way = NcclTransport::kGpuToGpu;
  slow.job.ranks[0].nccl_settings = {"NCCL_P2P_DISABLE=1"};
  const proto::RankFinding found = First(slow.job);
  EXPECT_EQ(found.reason(), "sockets");
  ASSERT_GE(found.evidence_size(), 2);
  EXPECT_NE(found.evidence(0).find("TCP sockets"), std::string::npos);
  EXPECT_EQ(found.evidence(found.evidence_size() - 1), "environment: NCCL_P2P_DISABLE=1");
  EXPECT_EQ(found.levers(0), "unset NCCL_P2P_DISABLE");
}

TEST(SlowTransportsTest, HealthyUnknownAndDistantRanksAreNotBlamed) {
  EXPECT_EQ(First(Training(0.4).job).name(), "");
  Job no_nvlink = Training(0.02).job;
  no_nvlink.ranks[3].nvlink_gb_per_s = 0;
  EXPECT_EQ(First(no_nvlink).name(), "");
  Job two_hosts = Training(0.02).job;
  two_hosts.ranks[3].host = "another";
  EXPECT_EQ(First(two_hosts).name(), "");
  Job multicast = Training(0.02).job;
  for (RankSummary& rank : multicast.ranks) {
    for (OperationKind& kind : rank.kinds) kind.algorithm = "NVLS";
  }
  EXPECT_EQ(First(multicast).name(), "");
}

}  // namespace
}  // namespace traceinject
