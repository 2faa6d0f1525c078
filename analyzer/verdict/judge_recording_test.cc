// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/judge_recording.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"

namespace traceinject {
namespace {

// A step of 100 ms, of which a label saves at least `saved_low` and `margin` more than the next.
Report Named(std::int64_t saved_low, double margin, std::int64_t added_low,
             std::int64_t added_high) {
  Report report;
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.set_label("dataloader");
  verdict.set_step_ns(100 * kMs);
  verdict.set_saved_ns(saved_low);
  verdict.set_scatter_low_ns(saved_low);
  verdict.mutable_runner_up()->set_label("launch_bound");
  verdict.set_margin(margin);
  proto::AbSteps& ab = *report.add_recording_costs()->mutable_ab();
  ab.set_added_low_ns(added_low);
  ab.set_added_high_ns(added_high);
  return report;
}

std::string Conclusion(Report report) {
  JudgeRecording(report);
  return report.recording_costs(0).ab().conclusion();
}

TEST(JudgeRecordingTest, AMarginThatIsSmallerMayHaveBeenDecided) {
  const std::string text = Conclusion(Named(40 * kMs, 0.02, kMs, 3 * kMs));
  EXPECT_NE(text.find("may have changed"), std::string::npos) << text;
  EXPECT_NE(
      text.find("Data loading (dataloader) comes before CPU-bound kernel launches (launch_bound)"),
      std::string::npos)
      << text;
}

TEST(JudgeRecordingTest, WhatMayHaveBeenDecidedIsDoubted) {
  Report report = Named(40 * kMs, 0.02, kMs, 3 * kMs);
  report.mutable_verdict()->set_confidence(0.97);
  JudgeRecording(report);
  EXPECT_EQ(report.verdict().confidence(), 0.5);
  ASSERT_EQ(report.verdict().caveats_size(), 1);
  EXPECT_NE(report.verdict().caveats(0).find("adds up to 3.000 ms to a step"), std::string::npos);
  Report sure = Named(40 * kMs, 0.2, kMs, 3 * kMs);
  sure.mutable_verdict()->set_confidence(0.97);
  JudgeRecording(sure);
  EXPECT_EQ(sure.verdict().confidence(), 0.97);
  EXPECT_EQ(sure.verdict().caveats_size(), 0);
}

TEST(JudgeRecordingTest, TheLargestStatementIsTold) {
  // Worth naming by 3 ms (8 above the floor of 5), before the next by 2.
  const std::string text = Conclusion(Named(8 * kMs, 0.02, kMs, 4 * kMs));
  EXPECT_NE(text.find("exceeds the reporting threshold rests on 3.000 ms"), std::string::npos)
      << text;
}

TEST(JudgeRecordingTest, AGainOfRecordingCountsLikeALoss) {
  const std::string text = Conclusion(Named(40 * kMs, 0.02, -3 * kMs, kMs));
  EXPECT_NE(text.find("may have changed"), std::string::npos) << text;
}

TEST(JudgeRecordingTest, LargerMarginsStand) {
  const std::string text = Conclusion(Named(40 * kMs, 0.2, kMs, 3 * kMs));
  EXPECT_NE(text.find("does not affect"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "Data loading (dataloader) comes before CPU-bound kernel launches (launch_bound)) is "
          "20.00 ms"),
      std::string::npos)
      << text;
}

TEST(JudgeRecordingTest, WithoutALabelTheNextCauseCounts) {
  Report report = Named(0, 0, kMs, 3 * kMs);
  proto::Verdict& verdict = *report.mutable_verdict();
  verdict.Clear();
  verdict.set_label("compute_bound");
  verdict.set_step_ns(100 * kMs);
  proto::Saving& next = *verdict.add_savings();
  next.set_label("comm_exposed");
  next.set_scatter_low_ns(3 * kMs);
  EXPECT_NE(Conclusion(report).find(
                "Exposed communication (comm_exposed) is below the reporting threshold rests on "
                "2.000 ms"),
            std::string::npos);
  verdict.set_label("inconclusive");
  EXPECT_EQ(Conclusion(report), "");
}

TEST(JudgeRecordingTest, NothingMeasuredNothingSaid) {
  Report report = Named(40 * kMs, 0.02, 0, 0);
  report.mutable_recording_costs(0)->clear_ab();
  JudgeRecording(report);
  EXPECT_FALSE(report.recording_costs(0).has_ab());
}

}  // namespace
}  // namespace traceinject
