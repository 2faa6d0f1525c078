// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/first_view.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

// Of two ranks rank 1 is guilty, as its third to fifth 10 ms show.
class FirstViewTest : public testing::Test {
 protected:
  FirstViewTest() {
    timeline_.Resize(1300, 400);
    report_.guilty = GuiltySteps{1, {Steps(), "steps 3 to 5", "", true}};
    first_.Begin(true);
  }

  Interval Steps() const {
    const TimeNs origin = loaded_->rows.origin;
    return {origin + 20 * kMs, origin + 50 * kMs};
  }
  Interval Shown() const { return {timeline_.view().start_ns(), timeline_.view().end_ns()}; }
  bool IsFolded(std::uint32_t rank) const {
    const auto& rows = loaded_->rows.rows;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (rows[row].kind == RowKind::kRank && rows[row].rank == rank)
        return timeline_.row_list().IsCollapsed(row);
    }
    ADD_FAILURE() << "no rank " << rank;
    return false;
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadRunOfTwoRanks();
  Timeline timeline_{loaded_->run, loaded_->rows};
  Interval all_ = Shown();
  RunReport report_;
  FirstView first_;
};

TEST_F(FirstViewTest, IsOfTheStepsWithALineForTheOtherRank) {
  EXPECT_EQ(first_.Text(timeline_), "");
  EXPECT_FALSE(first_.leads()) << "nothing is known";
  first_.Lead(report_, timeline_);
  EXPECT_EQ(Shown(), Steps());
  EXPECT_TRUE(IsFolded(0));
  EXPECT_FALSE(IsFolded(1));
  EXPECT_EQ(first_.Text(timeline_), "judged steps 3 to 5 of rank 1 on node-a (Home: whole run)");
  EXPECT_TRUE(first_.leads());
}

TEST_F(FirstViewTest, BackAndHomeLeadToTheWholeRun) {
  first_.Lead(report_, timeline_);
  timeline_.Do(CommandId::kShowAll);
  EXPECT_EQ(Shown(), all_);
  EXPECT_EQ(first_.Text(timeline_), "");
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(Shown(), Steps());
  EXPECT_NE(first_.Text(timeline_), "") << "they are shown again";
  timeline_.Do(CommandId::kPreviousView);
  EXPECT_EQ(Shown(), all_);
}

TEST_F(FirstViewTest, TakesNothingAwayFromAUserWhoWasQuicker) {
  first_.Keep();
  first_.Lead(report_, timeline_);
  EXPECT_EQ(Shown(), all_);
  EXPECT_FALSE(IsFolded(0));
  EXPECT_TRUE(first_.leads()) << "who opens it again is led there";
}

TEST_F(FirstViewTest, ComesOnceForARecordingAndOnlyWhereItIsWanted) {
  first_.Lead(report_, timeline_);
  timeline_.Do(CommandId::kShowAll);
  first_.Lead(report_, timeline_);
  EXPECT_EQ(Shown(), all_);
  first_.Begin(false);
  first_.Lead(report_, timeline_);
  EXPECT_EQ(Shown(), all_);
  EXPECT_FALSE(first_.leads());
}

TEST_F(FirstViewTest, WithoutStepsIsTheWholeRun) {
  report_.guilty.reset();
  first_.Lead(report_, timeline_);
  EXPECT_EQ(Shown(), all_);
  EXPECT_FALSE(IsFolded(0));
  EXPECT_EQ(first_.Text(timeline_), "");
}

TEST_F(FirstViewTest, CallsNoStepsJudgedThatWereNot) {
  report_.guilty->steps.judged = false;
  first_.Lead(report_, timeline_);
  EXPECT_EQ(first_.Text(timeline_), "steps 3 to 5 of rank 1 on node-a (Home: whole run)");
}

// Its line is far below those of the others.
TEST_F(FirstViewTest, ScrollsToTheRowsOfTheRank) {
  timeline_.Resize(1300, 120);
  first_.Lead(report_, timeline_);
  const auto rows = timeline_.ScrolledRows();
  const auto is_device = [&](std::uint32_t row) {
    return loaded_->rows.rows[row].rank == 1 && loaded_->rows.rows[row].kind == RowKind::kSteps;
  };
  EXPECT_TRUE(std::ranges::any_of(rows, is_device));
}

// As of a recording that was read again since.
TEST_F(FirstViewTest, StaysWhenTheRecordingIsReadAgain) {
  first_.Lead(report_, timeline_);
  Timeline again(loaded_->run, loaded_->rows);
  again.ContinueFrom(timeline_);
  EXPECT_EQ(again.view().start_ns(), Steps().start);
  EXPECT_EQ(again.row_list().choices().collapsed, timeline_.row_list().choices().collapsed);
}

}  // namespace
}  // namespace traceinject
