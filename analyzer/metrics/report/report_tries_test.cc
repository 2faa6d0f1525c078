// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

// Of ranks with these facts.
Report ReportOf(std::initializer_list<std::vector<SystemFact>> facts) {
  traceinject::Run run;
  for (const std::vector<SystemFact>& of_rank : facts) {
    RankBuilder builder;
    builder.AddKernel(0, 1000, "kernel");
    builder.rank().facts = of_rank;
    run.ranks.push_back(builder.rank());
  }
  return BuildReport(run, {});
}

TEST(ReportTriesTest, TellsWhatChangedTheProgram) {
  const Report report = ReportOf({{{"try", "num_workers=4", "2: train.py:41 DataLoader, was 0", ""},
                                   {"try", "compile=default", "", "torch 1.13 cannot"},
                                   {"try", "losses=1", "1: 0x1p+0", ""},
                                   {"env", "NCCL_DEBUG", "INFO", ""}}});
  ASSERT_EQ(report.tried_size(), 2) << "losses are noted, which changes nothing";
  EXPECT_EQ(report.tried(0).lever(), "num_workers=4");
  EXPECT_EQ(report.tried(0).times(), 2);
  EXPECT_EQ(report.tried(0).text(), "train.py:41 DataLoader, was 0");
  EXPECT_EQ(report.tried(1).times(), 0);
  EXPECT_EQ(report.tried(1).text(), "torch 1.13 cannot");
}

TEST(ReportTriesTest, OfRanksTheOneWithMostIsTold) {
  const Report report =
      ReportOf({{{"try", "num_workers=4", "", "nothing that it is about was seen"}},
                {{"try", "num_workers=4", "1: train.py:3", ""}}});
  ASSERT_EQ(report.tried_size(), 1);
  EXPECT_EQ(report.tried(0).times(), 1);
}

}  // namespace
}  // namespace traceinject
