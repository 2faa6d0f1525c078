// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_trend_html.h"

#include <gtest/gtest.h>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

proto::Trend TrendOf(int runs) {
  proto::Trend trend;
  trend.set_regressed(true);
  proto::TrendGroup& group = *trend.add_groups();
  group.set_program("<train>.py");
  group.set_ranks(1);
  group.set_regressed(true);
  for (int i = 0; i < runs; ++i) {
    proto::TrendRun& run = *group.add_runs();
    run.set_name("run" + std::to_string(i) + ".db");
    run.set_start_unix_ns(1'700'000'000'000'000'000 + i * 86'400'000'000'000);
    run.set_step_ns(i < runs / 2 ? 40'000'000 : 48'000'000);
    run.set_step_low_ns(run.step_ns() - 1'000'000);
    run.set_step_high_ns(run.step_ns() + 1'000'000);
    run.set_verdict("dataloader");
  }
  group.mutable_runs(0)->set_page("reports/run0.html");
  proto::LevelChange& change = *group.add_changes();
  change.set_run(runs / 2);
  change.set_after_ns(48'000'000);
  change.set_change_share(0.2);
  change.set_text("40.00 ms -> 48.00 ms");
  trend.add_left_out("broken.db: not a database");
  return trend;
}

TEST(WriteTrendHtmlTest, DrawsRunsAndChangesAndLeadsToReports) {
  const std::string page = WriteTrendHtml(TrendOf(8));
  const ReadPage read = Read(page);
  EXPECT_EQ(read.error, "");
  EXPECT_NE(page.find("slower than before"), std::string::npos);
  EXPECT_NE(page.find("+20.0 %"), std::string::npos);
  EXPECT_NE(page.find("href=\"reports/run0.html\""), std::string::npos);
  EXPECT_NE(page.find("broken.db: not a database"), std::string::npos);
  EXPECT_EQ(page.find("<train>"), std::string::npos) << "text is escaped";
}

TEST(WriteTrendHtmlTest, IsBounded) {
  EXPECT_NE(WriteTrendHtml(TrendOf(600)).find("100 earlier runs are not shown"), std::string::npos);
  EXPECT_EQ(Read(WriteTrendHtml(proto::Trend())).error, "");
}

}  // namespace
}  // namespace traceinject
