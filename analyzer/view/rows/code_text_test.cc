// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/code_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/row_names.h"

namespace traceinject {
namespace {

class CodeTextTest : public testing::Test {
 protected:
  CodeTextTest() {
    RankBuilder builder;
    const auto load = builder.AddStack({{"main", "/w/train.py", 10},
                                        {"load", "/w/data.py", 20},
                                        {"choice", "/usr/lib/python3.12/random.py", 7}});
    const auto main = builder.AddStack({{"main", "/w/train.py", 10}});
    for (int i = 0; i < 3; ++i) builder.AddLook(i * 10 * kMs, load);
    builder.AddLook(30 * kMs, main);
    run_.ranks.push_back(builder.rank());
    model_ = BuildRows(run_);
  }
  std::uint32_t RowOf(RowKind kind) const {
    const auto found = std::find_if(model_.rows.begin(), model_.rows.end(),
                                    [kind](const Row& row) { return row.kind == kind; });
    return static_cast<std::uint32_t>(found - model_.rows.begin());
  }
  std::string Value(const std::vector<Detail>& details, const std::string& what) const {
    for (const auto& [name, value] : details) {
      if (name == what) return value;
    }
    return "";
  }

  traceinject::Run run_;
  RowModel model_;
};

TEST_F(CodeTextTest, RowsOfLinesAndFrames) {
  const Row& lines = model_.rows[RowOf(RowKind::kCode)];
  const Row& frames = model_.rows[RowOf(RowKind::kFrames)];
  EXPECT_EQ(lines.label, "thread 100: Python");
  EXPECT_EQ(frames.label, "thread 100: frames");
  EXPECT_EQ(frames.note, "3 levels");
  EXPECT_EQ(frames.parent, RowOf(RowKind::kCode)) << "folded up into the line";
  EXPECT_EQ(frames.lanes.size(), 3U);
  EXPECT_TRUE(IsFoldedAtFirst(lines.kind));
}

TEST_F(CodeTextTest, FunctionsOfMachineCode) {
  for (CodePlace& place : run_.ranks[0].places) {
    place.is_native = true;
    place.line = 0;
  }
  const RowModel model = BuildRows(run_);
  const std::uint32_t row = RowOf(RowKind::kCode);
  EXPECT_EQ(model.rows[row].label, "thread 100: functions");
  EXPECT_EQ(EventLabel(run_, model, {row, 0, 0}), "choice in random.py");
}

TEST_F(CodeTextTest, DetailsOfALine) {
  const EventRef load{RowOf(RowKind::kCode), 0, 0};
  EXPECT_EQ(EventLabel(run_, model_, load), "data.py:20 in load");
  const auto details = EventDetails(run_, model_, load, {});
  EXPECT_EQ(Value(details, "file"), "/w/data.py:20");
  EXPECT_EQ(Value(details, "belongs to"), "the program");
  EXPECT_EQ(Value(details, "seen"), "in 3 of 4 samples of the thread (75.0 %)");
  EXPECT_EQ(Value(details, "thread"), "100 (python)");
}

TEST_F(CodeTextTest, DetailsOfAFrame) {
  const EventRef choice{RowOf(RowKind::kFrames), 2, 0};
  EXPECT_EQ(EventLabel(run_, model_, choice), "random.py:7 in choice");
  const auto details = EventDetails(run_, model_, choice, {});
  EXPECT_EQ(Value(details, "belongs to"), "a library");
  EXPECT_EQ(Value(details, "called by"), "data.py:20 in load < train.py:10 in main");
  const EventRef main{RowOf(RowKind::kFrames), 0, 0};
  EXPECT_EQ(Value(EventDetails(run_, model_, main, {}), "seen"),
            "in 4 of 4 samples of the thread (100.0 %)");
}

TEST_F(CodeTextTest, EventsAreFoundByPlaceAndByFile) {
  const EventRef choice{RowOf(RowKind::kFrames), 2, 0};
  const RowNames names(run_, model_, choice.row);
  const RowNames::Name name = names.names()[names.Of(choice)];
  EXPECT_EQ(name.label, "random.py:7 in choice");
  EXPECT_EQ(name.full, "/usr/lib/python3.12/random.py");
  const RowNames of_lines(run_, model_, RowOf(RowKind::kCode), &names);
  EXPECT_TRUE(of_lines.SharesNamesWith(names));
}

TEST_F(CodeTextTest, OtherRowsHaveNoPlace) {
  RankBuilder builder;
  builder.AddRange({0, 10, "range"});
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  const EventRef range{static_cast<std::uint32_t>(model.rows.size()) - 1, 0, 0};
  EXPECT_EQ(PlaceOf(run, model, range), kNone);
}

}  // namespace
}  // namespace traceinject
