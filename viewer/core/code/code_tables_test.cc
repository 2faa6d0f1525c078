// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/code_tables.h"

#include <gtest/gtest.h>

#include "analyzer/metrics/report/report_code.h"
#include "viewer/core/testing/code_run.h"

namespace traceinject {
namespace {

const std::atomic<bool> kGoOn = false;

class CodeTablesTest : public testing::Test {
 protected:
  CodeTablesTest() {
    run_.ranks = {MakeCodeRank()};
    model_ = BuildRows(run_);
    timeline_.emplace(run_, model_);
    timeline_->Resize(1'000, 600);
    tables_ = *FindCode(run_, kGoOn);
  }

  traceinject::Run run_;
  RowModel model_;
  std::optional<Timeline> timeline_;
  CodeTables tables_;
};

TEST_F(CodeTablesTest, AreWhatAnalyzeCodePrints) {
  for (const CodeGrouping grouping :
       {CodeGrouping::kLine, CodeGrouping::kFunction, CodeGrouping::kThread}) {
    EXPECT_EQ(tables_.by[static_cast<std::size_t>(grouping)].SerializeAsString(),
              BuildReportWithCode(run_, {}, grouping).SerializeAsString());
  }
  EXPECT_FALSE(tables_.has_modules);
  ASSERT_GT(tables_.by[0].devices(0).code_size(), 0);
  EXPECT_EQ(tables_.by[0].devices(0).code(0).function(), "load");
}

TEST_F(CodeTablesTest, HaveModulesWhereTheyWereSeen) {
  run_.ranks[0].strings.emplace_back("GPT.h.0.attn");
  run_.ranks[0].stacks[0].module = static_cast<std::uint32_t>(run_.ranks[0].strings.size()) - 1;
  const CodeTables tables = *FindCode(run_, kGoOn);
  EXPECT_TRUE(tables.has_modules);
  for (const CodeGrouping grouping : {CodeGrouping::kModules, CodeGrouping::kEachModule}) {
    EXPECT_EQ(tables.by[static_cast<std::size_t>(grouping)].SerializeAsString(),
              BuildReportWithCode(run_, {}, grouping).SerializeAsString());
  }
}

TEST_F(CodeTablesTest, BreakOffWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(FindCode(run_, cancelled).has_value());
}

TEST_F(CodeTablesTest, ShowTheLongestWaitForALine) {
  ShowCode(tables_, {"/w/data.py", "load", 41}, *timeline_);
  ASSERT_TRUE(timeline_->selection().has_value());
  const EventRef selected = *timeline_->selection();
  EXPECT_EQ(model_.rows[selected.row].kind, RowKind::kIdle);
  // Of the regular steps: the one that takes long is none of them.
  const TimeNs start = model_.lane(selected).start(selected.event);
  EXPECT_LE(timeline_->view().start_ns(), start);
  EXPECT_GE(timeline_->view().end_ns(), model_.lane(selected).end(selected.event));
  const MarkedPlaces& marked = timeline_->marked_places();
  ASSERT_FALSE(marked.empty());
  EXPECT_EQ(model_.place_labels[0][marked.first()->second], "data.py:41 in load");
  EXPECT_TRUE(LongestOf(tables_, marked).has_value());
  timeline_->Do(CommandId::kClear);
  EXPECT_TRUE(timeline_->marked_places().empty()) << "first the marks go";
  EXPECT_TRUE(timeline_->selection().has_value());
}

TEST_F(CodeTablesTest, ShowTheLongestBoxOfWhatNothingWaitedFor) {
  ShowCode(tables_, {"/usr/lib/python3/dist-packages/numpy/r.py", "choice", 0}, *timeline_);
  ASSERT_TRUE(timeline_->selection().has_value());
  EXPECT_EQ(model_.rows[timeline_->selection()->row].kind, RowKind::kFrames);
}

TEST_F(CodeTablesTest, CodeThatIsNotThereShowsNothing) {
  ShowCode(tables_, {"/w/data.py", "load", 42}, *timeline_);
  EXPECT_FALSE(timeline_->selection().has_value());
  EXPECT_TRUE(timeline_->marked_places().empty());
}

}  // namespace
}  // namespace traceinject
