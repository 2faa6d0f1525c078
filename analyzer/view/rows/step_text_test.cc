// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/step_text.h"

#include <gtest/gtest.h>

#include "analyzer/common/units.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {
namespace {

class StepTextTest : public testing::Test {
 protected:
  StepTextTest() {
    TrainingPlan plan;
    plan.load_ns = 25'000'000;
    Rank rank = SimulatedTraining(plan).rank();
    // An unused GPU before the one with the work.
    rank.devices.insert(rank.devices.begin(), Device());
    rank.devices[1].ordinal = 1;
    for (Stream& stream : rank.streams) stream.device = 1;
    run_.ranks = {rank};
    model_ = BuildRows(run_);
    report_ = BuildReportWithVerdict(run_, {});
  }
  std::vector<Detail> At(RowKind kind, TimeNs time) const {
    for (const Row& row : model_.rows) {
      if (row.kind == kind) return StepDetails(report_, run_, model_, row, time);
    }
    ADD_FAILURE() << "no such row";
    return {};
  }

  traceinject::Run run_;
  RowModel model_;
  proto::Report report_;
};

TEST_F(StepTextTest, NamesTheStepOfAMoment) {
  const proto::DeviceSteps& steps = report_.steps(0);
  ASSERT_GT(steps.steps_size(), 7);
  const proto::StepSplit& seventh = steps.steps(6);
  const TimeNs time = model_.origin + seventh.start_ns() + 1'000;
  for (const RowKind kind : {RowKind::kStream, RowKind::kCalls}) {
    const std::vector<Detail> lines = At(kind, time);
    ASSERT_GE(lines.size(), 4U);
    EXPECT_EQ(lines[0], Detail("step", "7 of " + std::to_string(steps.count())));
    EXPECT_TRUE(lines[1].second.starts_with(FormatTime(seventh.length_ns()))) << lines[1].second;
    EXPECT_EQ(lines[2], Detail("into the step", "1.000 us"));
    EXPECT_NE(lines[3].second.find("idle"), std::string::npos);
    EXPECT_NE(lines[4].second.find("data wait"), std::string::npos) << lines[4].second;
  }
}

TEST_F(StepTextTest, OutsideOfTheStepsThereIsNone) {
  EXPECT_TRUE(At(RowKind::kStream, model_.origin - 1'000'000'000).empty());
}

}  // namespace
}  // namespace traceinject
