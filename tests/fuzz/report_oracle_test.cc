// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/report_oracle.h"

#include <gtest/gtest.h>

#include <limits>

namespace traceinject {
namespace {

TEST(ReportOracleTest, AnEmptyReportIsRight) { EXPECT_EQ(WrongReport({}), ""); }

TEST(ReportOracleTest, AClockMayBeBehind) {
  proto::Ranks ranks;
  ranks.add_ranks()->set_clock_offset_ns(-760'500);
  EXPECT_EQ(WrongFigures(ranks), "");
}

TEST(ReportOracleTest, FiguresThatCannotBeAreFound) {
  proto::Report report;
  report.mutable_verdict()->set_confidence(1.5);
  report.mutable_verdict()->set_saved_ns(-1);
  report.mutable_verdict()->set_saved_low_ns(-1);  // of an interval
  report.mutable_verdict()->set_replay_error(std::numeric_limits<double>::quiet_NaN());
  report.mutable_mfu()->set_mfu_percent(101);
  report.add_notes("a\x1b[31m");
  const std::string wrong = WrongFigures(report);
  for (const char* expected :
       {"verdict.confidence: 1.5 is not within 0 and 1", "verdict.saved_ns: -1 is negative",
        "verdict.replay_error: nan is not a number", "mfu.mfu_percent: 101 is not within 0 and 100",
        "notes[0]: control characters"})
    EXPECT_NE(wrong.find(expected), std::string::npos) << expected << "\nin\n" << wrong;
  EXPECT_EQ(wrong.find("saved_low_ns"), std::string::npos) << wrong;
}

TEST(ReportOracleTest, PartsThatAreNotTheWholeAreFound) {
  proto::Report report;
  proto::Partition& partition = *report.mutable_run()->mutable_partition();
  partition.set_wall_ns(100);
  partition.set_compute_ns(60);
  partition.set_idle_ns(30);
  partition.set_compute_percent(60);
  partition.set_idle_percent(40);
  proto::StepSplit& step = *report.add_steps()->add_steps();
  step.set_length_ns(10);
  step.set_idle_ns(10);
  step.add_idle()->set_ns(9);
  EXPECT_EQ(WrongReport(report),
            "run.partition: the parts add up to 90 and not to 100\n"
            " step.idle: the parts add up to 9 and not to 10\n");
}

TEST(ReportOracleTest, TextWithoutNumbersIsFound) {
  EXPECT_EQ(WrongText("mean step 1.5 ms\n"), "");
  EXPECT_EQ(WrongText("mean step nan ms\n"), "no number: mean step nan ms\n\n");
  EXPECT_NE(WrongText("kernel\x1b[31m"), "");
  EXPECT_EQ(WrongText("note: kernel nan is slow", "kernel\x01nan\x01is slow"), "");
}

}  // namespace
}  // namespace traceinject
