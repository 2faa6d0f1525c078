// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/rank_builder.h"

namespace traceinject {
namespace {

constexpr TimeNs kMs = 1'000'000;

// Works for so long in each step of 13 ms, and then waits for the other rank.
Rank WorkingRank(int number, TimeNs work) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(2, number, 0);
  for (int i = 0; i < 20; ++i) {
    const TimeNs start = i * 13 * kMs;
    const std::uint32_t first =
        builder.AddApi(start - 3 * kMs, start - 3 * kMs + 5'000, "cudaLaunchKernel");
    const std::uint32_t second =
        builder.AddApi(start - 2 * kMs, start - 2 * kMs + 5'000, "cudaLaunchKernel");
    builder.AddCall(
        {start - 2 * kMs - 1'000, start - 2 * kMs + 6'000, "AllReduce", 1 << 25, communicator});
    builder.AddKernel(start, start + work, "ampere_bf16_s16816gemm_bf16_128x128_nn", first);
    builder.AddKernel(start + work, start + 13 * kMs, "ncclDevKernel_AllReduce_Sum", second);
    builder.AddStepMark(start - kMs);
  }
  Rank rank = std::move(builder.rank());
  rank.rank = number;
  rank.end = 20 * 13 * kMs;
  return rank;
}

TEST(AddRankFindingsTest, AStragglerIsPartOfTheReport) {
  traceinject::Run run;
  run.ranks = {WorkingRank(0, 10 * kMs), WorkingRank(1, 12 * kMs)};
  Report report;
  AddRankFindings(run, {}, report);
  ASSERT_EQ(report.rank_findings_size(), 1);
  EXPECT_EQ(report.rank_findings(0).name(), "straggler");
  EXPECT_NE(report.rank_findings(0).text().find("rank 1"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(report.rank_findings(0).saved_ns()), 2.0 * kMs, 0.05 * kMs);
  EXPECT_EQ(report.rank_findings(0).rows_size(), 0);
  EXPECT_FALSE(report.has_verdict());
}

TEST(AddRankFindingsTest, AVerdictThatSavesLessSaysSo) {
  traceinject::Run run;
  run.ranks = {WorkingRank(0, 10 * kMs), WorkingRank(1, 12 * kMs)};
  for (const TimeNs saved : {1 * kMs, 3 * kMs}) {
    Report report;
    report.mutable_verdict()->set_saved_ns(saved);
    AddRankFindings(run, {}, report);
    EXPECT_EQ(report.verdict().caveats_size(), saved < 2 * kMs ? 1 : 0);
  }
}

TEST(AddRankFindingsTest, NothingOfAPartOrOfOneRank) {
  traceinject::Run run;
  run.ranks = {WorkingRank(0, 10 * kMs), WorkingRank(1, 12 * kMs)};
  ReportOptions part;
  part.steps = StepChoice{2, 9};
  Report report;
  AddRankFindings(run, part, report);
  ReportOptions one;
  one.devices.rank = 1;
  AddRankFindings(run, one, report);
  run.ranks.pop_back();
  AddRankFindings(run, {}, report);
  EXPECT_EQ(report.rank_findings_size(), 0);
}

}  // namespace
}  // namespace traceinject
