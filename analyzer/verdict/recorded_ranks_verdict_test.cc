// SPDX-License-Identifier: Apache-2.0
// Verdicts on the recordings of several ranks in samples/recordings, against what was planted and
// what it cost as measured without recording (tests/gpu/RESULTS.md).
#include <gtest/gtest.h>

#include "analyzer/import/load/load_run.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

proto::Verdict VerdictOn(const std::string& recording) {
  auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/" + recording}, {});
  EXPECT_TRUE(run.ok()) << run.error();
  return run.ok() ? BuildReportWithVerdict(run.value(), {}).verdict() : proto::Verdict();
}

void ExpectPlanted(const proto::Verdict& verdict, double cost_ns) {
  EXPECT_NEAR(static_cast<double>(verdict.saved_ns()), cost_ns, 0.1 * cost_ns);
  EXPECT_GT(verdict.confidence(), 0.9);
  EXPECT_EQ(verdict.caveats_size(), 0);
  EXPECT_GE(verdict.evidence_size(), 5);
  ASSERT_GT(verdict.levers_size(), 0);
}

TEST(RecordedRanksVerdictTest, ARankWithMoreWorkIsAStraggler) {
  const proto::Verdict verdict = VerdictOn("straggler_gemm_h200");
  EXPECT_EQ(verdict.label(), "straggler");
  EXPECT_EQ(verdict.place(), "rank 1");
  ExpectPlanted(verdict, 6.07e6);
  EXPECT_EQ(verdict.evidence(1).text(),
            "rank 1 runs 40 nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT (4096 x 4096 x 4096) a "
            "step, its peers none: +6.417 ms a step");
}

TEST(RecordedRanksVerdictTest, AForbiddenWayIsASlowLink) {
  const proto::Verdict verdict = VerdictOn("transport_shm_h200");
  EXPECT_EQ(verdict.label(), "slow_link");
  ExpectPlanted(verdict, 11.74e6);
  EXPECT_EQ(verdict.runner_up().label(), "comm_exposed");
  EXPECT_LT(verdict.runner_up().saved_ns(), 1'000'000);
  EXPECT_NE(verdict.levers(0).setting().find("NCCL_P2P_DISABLE"), std::string::npos);
}

TEST(RecordedRanksVerdictTest, RanksThatKeepUpAreNot) {
  EXPECT_EQ(VerdictOn("ddp_h200").label(), "compute_bound");
}

}  // namespace
}  // namespace traceinject
