// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_rank_findings.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/verdict/testing/simulated_ranks.h"

namespace traceinject {
namespace {

RankFindings FindIn(const traceinject::Run& run, const ReportOptions& options) {
  return FindBetweenRanks(AnalyzeRun(run, options, Depth::kCauses));
}

TEST(AddRankFindingsTest, AStragglerIsPartOfTheReport) {
  const traceinject::Run run = RunOfRanks({{.work_ns = 10 * kMs}, {.work_ns = 12 * kMs}});
  Report report;
  AddRankFindings(FindIn(run, {}), report);
  ASSERT_EQ(report.rank_findings_size(), 1);
  EXPECT_EQ(report.rank_findings(0).name(), "straggler");
  EXPECT_NE(report.rank_findings(0).text().find("rank 1"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(report.rank_findings(0).saved_ns()), 2.0 * kMs, 0.05 * kMs);
  EXPECT_EQ(report.rank_findings(0).rows_size(), 0);
  EXPECT_FALSE(report.has_verdict());
}

TEST(AddRankFindingsTest, NothingOfAPartOrOfOneRank) {
  traceinject::Run run = RunOfRanks({{.work_ns = 10 * kMs}, {.work_ns = 12 * kMs}});
  ReportOptions part;
  part.steps = StepChoice{2, 9};
  EXPECT_EQ(FindIn(run, part).ranks.ranks_size(), 0);
  ReportOptions one;
  one.devices.rank = 1;
  EXPECT_EQ(FindIn(run, one).ranks.ranks_size(), 0);
  run.ranks.pop_back();
  EXPECT_EQ(FindIn(run, {}).ranks.ranks_size(), 0);
}

}  // namespace
}  // namespace traceinject
