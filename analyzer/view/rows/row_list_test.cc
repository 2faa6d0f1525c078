// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_list.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// Two ranks, each with a GPU of two streams and a host of two threads.
class RowListTest : public testing::Test {
 protected:
  RowListTest() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::uint32_t heading =
          Add(RowKind::kRank, "rank " + std::to_string(rank), kNone, rank);
      const std::uint32_t gpu = Add(RowKind::kDevice, "GPU 0", heading, rank);
      Add(RowKind::kStream, "stream 7", gpu, rank);
      Add(RowKind::kStream, "stream 13", gpu, rank);
      const std::uint32_t host = Add(RowKind::kHost, "host", heading, rank);
      Add(RowKind::kNvtx, "thread 1: NVTX", host, rank);
      Add(RowKind::kCalls, "thread 1: CUDA calls", host, rank);
    }
  }
  std::uint32_t Add(RowKind kind, const std::string& label, std::uint32_t parent,
                    std::uint32_t rank) {
    Row row;
    row.kind = kind;
    row.label = label;
    row.id = "r" + std::to_string(model_.rows.size());
    row.parent = parent;
    row.rank = rank;
    if (!IsHeading(kind)) {
      LaneEvents events;
      events.Add(0, 10, 0, Ink::kCallOther);
      row.lanes.emplace_back(std::move(events));
    }
    model_.rows.push_back(std::move(row));
    return static_cast<std::uint32_t>(model_.rows.size()) - 1;
  }
  std::string Shown(const RowList& list) const {
    std::string text;
    const auto add = [&](std::uint32_t row) {
      text += (text.empty() ? "" : ", ") + std::to_string(row);
    };
    for (const std::uint32_t row : list.pinned()) add(row);
    if (!list.pinned().empty()) text += " |";
    for (const std::uint32_t row : list.scrolled()) add(row);
    return text;
  }

  RowModel model_;
};

TEST_F(RowListTest, ShowsAllRowsInTheirOrderAtFirst) {
  const RowList list(model_);
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  EXPECT_EQ(list.depth(0), 0);
  EXPECT_EQ(list.depth(3), 2);
  EXPECT_EQ(list.EmptyText(), "");
}

TEST_F(RowListTest, ACollapsedGroupStandsForItsRows) {
  RowList list(model_);
  list.ToggleCollapsed(1);
  EXPECT_EQ(Shown(list), "0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  EXPECT_EQ(list.StandIn(2), 1U);
  EXPECT_TRUE(list.Summary(1).empty()) << "a GPU's own row is its summary";
  list.ToggleCollapsed(0);
  EXPECT_EQ(Shown(list), "0, 7, 8, 9, 10, 11, 12, 13");
  EXPECT_EQ(list.StandIn(2), 0U);
  ASSERT_EQ(list.Summary(0).size(), 1U);
  EXPECT_EQ(list.Summary(0)[0], 1U);
  list.ToggleCollapsed(0);
  EXPECT_EQ(Shown(list), "0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")
      << "what is inside stays as it was";
  list.ToggleCollapsed(2);
  EXPECT_FALSE(list.IsCollapsed(2)) << "not a group";
}

TEST_F(RowListTest, ACollapsedHostIsTheSumOfItsThreads) {
  RowList list(model_);
  list.ToggleCollapsed(4);
  ASSERT_EQ(list.Summary(4).size(), 2U);
  EXPECT_EQ(list.Summary(4)[0], 5U);
  EXPECT_EQ(list.Summary(4)[1], 6U);
}

TEST_F(RowListTest, ASummaryHasFewRows) {
  for (int i = 0; i < 20; ++i) Add(RowKind::kCalls, "thread", 4, 0);
  RowList list(model_);
  list.ToggleCollapsed(4);
  EXPECT_EQ(list.Summary(4).size(), RowList::kMaxSummaryRows);
}

TEST_F(RowListTest, PinnedRowsStandAtTheTopInTheirOwnOrder) {
  RowList list(model_);
  list.TogglePinned(9);
  list.TogglePinned(2);
  EXPECT_EQ(Shown(list), "9, 2 |, 0, 1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13");
  EXPECT_TRUE(list.Move(2, -1));
  EXPECT_FALSE(list.Move(2, -1));
  EXPECT_EQ(list.pinned()[0], 2U);
  EXPECT_EQ(list.Context(9), "rank 1, GPU 0");
  list.SetFilter("NVTX");
  list.ToggleCollapsed(7);
  EXPECT_EQ(list.pinned().size(), 2U) << "whatever is filtered or collapsed";
  list.TogglePinned(2);
  list.TogglePinned(9);
  list.Reset();
  list.TogglePinned(0);
  EXPECT_TRUE(list.pinned().empty()) << "a heading has nothing to pin";
}

TEST_F(RowListTest, HiddenGroupsHideTheirRowsUntilTheReset) {
  RowList list(model_);
  list.Hide(0);
  list.Hide(9);
  EXPECT_EQ(Shown(list), "7, 8, 10, 11, 12, 13");
  EXPECT_EQ(list.StandIn(2), kNone);
  list.Reset();
  EXPECT_EQ(list.scrolled().size(), model_.rows.size());
}

TEST_F(RowListTest, AFilterKeepsTheGroupsOfWhatItFindsAndTheRowsOfGroupsItFinds) {
  RowList list(model_);
  list.ToggleCollapsed(0);
  list.SetFilter("nvtx");
  EXPECT_EQ(Shown(list), "0, 4, 5, 7, 11, 12") << "also inside of collapsed groups";
  list.SetFilter("RANK 1");
  EXPECT_EQ(Shown(list), "7, 8, 9, 10, 11, 12, 13");
  list.SetFilter("");
  EXPECT_EQ(Shown(list), "0, 7, 8, 9, 10, 11, 12, 13");
}

TEST_F(RowListTest, RowsMoveWithinTheirGroupPastThoseThatAreNotShown) {
  RowList list(model_);
  EXPECT_TRUE(list.Move(7, -1));
  EXPECT_EQ(Shown(list), "7, 8, 9, 10, 11, 12, 13, 0, 1, 2, 3, 4, 5, 6");
  EXPECT_FALSE(list.Move(7, -1));
  EXPECT_TRUE(list.Move(7, 1));
  EXPECT_TRUE(list.Move(2, 1));
  EXPECT_EQ(Shown(list), "0, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  EXPECT_FALSE(list.Move(2, 1)) << "not out of its GPU";
  list.Hide(3);
  EXPECT_FALSE(list.Move(2, -1)) << "there is no other row to see";
}

TEST_F(RowListTest, RevealOpensWhateverIsInTheWay) {
  RowList list(model_);
  list.ToggleCollapsed(0);
  list.ToggleCollapsed(1);
  list.Hide(2);
  list.SetFilter("NVTX");
  list.Reveal(2);
  EXPECT_EQ(list.StandIn(2), 2U);
  const RowChoices before = list.choices();
  list.Reveal(2);
  EXPECT_EQ(list.choices(), before);
}

TEST_F(RowListTest, ChoicesAreAValueThatComesBack) {
  RowList list(model_);
  list.ToggleCollapsed(1);
  list.TogglePinned(9);
  list.Hide(13);
  list.Move(5, 1);
  list.SetFilter("t");
  const RowChoices kept = list.choices();
  const std::string shown = Shown(list);
  list.Reset();
  EXPECT_NE(Shown(list), shown);
  list.Choose(kept);
  EXPECT_EQ(Shown(list), shown);
  EXPECT_EQ(list.choices(), kept);
}

TEST_F(RowListTest, ChoicesOfAnotherRunDoNoHarm) {
  RowList list(model_);
  RowChoices other;
  other.collapsed = {1, 77};
  other.hidden = {500};
  other.pinned = {9, 99};
  other.order = {3, 2, 1000};
  list.Choose(other);
  EXPECT_EQ(list.pinned().size(), 1U);
  EXPECT_EQ(list.scrolled().size(), model_.rows.size() - 3);
}

TEST_F(RowListTest, SavedRowsComeBackInAnotherListWithoutTheFilter) {
  RowList list(model_);
  EXPECT_EQ(list.Saved(), SavedRows()) << "nothing was chosen";
  list.Move(2, 1);
  list.ToggleCollapsed(1);
  list.TogglePinned(9);
  list.Hide(13);
  list.SetFilter("t");
  const SavedRows saved = list.Saved();
  EXPECT_EQ(saved.collapsed, std::vector<std::string>{"r1"});
  EXPECT_EQ(saved.order, (std::vector<std::string>{"r3", "r2"})) << "of the group that was changed";
  RowList again(model_);
  again.Restore(saved);
  EXPECT_EQ(again.Saved(), saved);
  list.SetFilter("");
  EXPECT_EQ(Shown(again), Shown(list));
}

TEST_F(RowListTest, SavedRowsThatAreNotThereAreKept) {
  const SavedRows saved = {
      {"r1", "gone"}, {}, {"gone", "r13"}, {"gone", "r9", "r0", "r9"}, {"r3", "gone", "r2"}};
  RowList list(model_);
  list.Restore(saved);
  ASSERT_EQ(list.pinned().size(), 1U) << "no heading, and once";
  EXPECT_EQ(list.Saved(), saved) << "nothing was changed";
  list.Hide(12);
  EXPECT_EQ(list.Saved().hidden, (std::vector<std::string>{"r12", "r13", "gone"}));
  EXPECT_EQ(list.Saved().pinned, saved.pinned);
  list.TogglePinned(9);
  EXPECT_EQ(list.Saved().pinned, std::vector<std::string>{"gone"});
  list.Reset();
  EXPECT_EQ(list.Saved(), SavedRows());
}

TEST_F(RowListTest, SamplesAreFoldedUntilTheyAreOpened) {
  const std::uint32_t heading = Add(RowKind::kSampleHeading, "samples", 1, 0);
  const std::uint32_t clock = Add(RowKind::kSamples, "SM clock", heading, 0);
  RowList list(model_);
  EXPECT_EQ(list.StandIn(clock), heading);
  EXPECT_EQ(list.Saved(), SavedRows()) << "nothing was chosen";
  list.ToggleCollapsed(heading);
  EXPECT_EQ(list.StandIn(clock), clock);
  const SavedRows saved = list.Saved();
  EXPECT_EQ(saved.opened, std::vector<std::string>{"r14"});
  EXPECT_TRUE(saved.collapsed.empty());
  RowList again(model_);
  again.Restore(saved);
  EXPECT_EQ(again.StandIn(clock), clock);
  EXPECT_EQ(again.Saved(), saved);
  again.Reset();
  EXPECT_EQ(again.StandIn(clock), heading);
}

class ManyRanksTest : public RowListTest {
 protected:
  ManyRanksTest() {
    for (std::uint32_t rank = 2; rank < 4; ++rank) {
      const std::uint32_t heading =
          Add(RowKind::kRank, "rank " + std::to_string(rank), kNone, rank);
      Add(RowKind::kDevice, "GPU 0", heading, rank);
    }
  }
  static constexpr std::uint32_t kRank2 = 14, kRank3 = 16;
};

TEST_F(ManyRanksTest, AreFoldedButForThoseThatSomethingIsSaidOf) {
  RowList list(model_);
  EXPECT_EQ(Shown(list), "0, 7, 14, 16");
  EXPECT_EQ(list.Summary(kRank2).size(), 1U) << "its line shows its GPU";
  list.OpenRanks({2});
  EXPECT_EQ(Shown(list), "0, 7, 14, 15, 16");
  EXPECT_EQ(list.Saved(), SavedRows()) << "the user chose nothing";
  list.FoldRanks();
  EXPECT_EQ(Shown(list), "0, 7, 14, 16");
  list.FoldRanks();
  EXPECT_TRUE(list.Summary(kRank3).empty()) << "all are open";
  list.Reset();
  EXPECT_EQ(Shown(list), "0, 7, 14, 15, 16");
}

TEST_F(ManyRanksTest, OfFewRanksTheOthersAreFoldedToo) {
  RowList list(model_);
  list.OpenRanks({2}, 3);
  EXPECT_EQ(Shown(list).size(), Shown(RowList(model_)).size() + 4) << "there are four";
  list.OpenRanks({2}, 4);
  EXPECT_FALSE(list.IsCollapsed(kRank3)) << "of so many all are open";
  list.OpenRanks({2}, 1);
  EXPECT_EQ(Shown(list), "0, 7, 14, 15, 16");
  EXPECT_EQ(list.Saved(), SavedRows()) << "the user chose nothing";
  list.ToggleCollapsed(kRank3);
  list.OpenRanks({1}, 1);
  EXPECT_FALSE(list.IsCollapsed(kRank3)) << "the user opened it";
}

TEST_F(ManyRanksTest, WhatTheUserFoldedOrOpenedStaysSo) {
  RowList list(model_);
  list.OpenRanks({2});
  list.ToggleCollapsed(kRank2);
  list.ToggleCollapsed(kRank3);
  EXPECT_EQ(Shown(list), "0, 7, 14, 16, 17");
  const SavedRows saved = list.Saved();
  list.OpenRanks({1});
  EXPECT_TRUE(list.IsCollapsed(kRank2));
  EXPECT_FALSE(list.IsCollapsed(7));
  RowList again(model_);
  again.Restore(saved);
  again.OpenRanks({2});
  EXPECT_EQ(Shown(again), "0, 7, 14, 16, 17") << "also in the next window";
  EXPECT_EQ(again.Saved(), saved);
}

// A GPU of three streams and a host of three threads. Of the first ones something goes on from 0 to
// 10, of the others from 100 to 110.
class QuietRowsTest : public RowListTest {
 protected:
  QuietRowsTest() {
    model_.rows.clear();
    Add(RowKind::kRank, "rank 0", kNone, 0);
    Add(RowKind::kDevice, "GPU 0", 0, 0);
    for (std::uint32_t stream = 0; stream < 3; ++stream) {
      const std::uint32_t row = AddAt(RowKind::kStream, 1, stream == 0 ? 0 : 100);
      model_.rows[row].device = 0;
      model_.rows[row].stream = stream;
    }
    model_.rows[Add(RowKind::kQuiet, "streams without events", 1, 0)].device = 0;
    Add(RowKind::kHost, "host", 0, 0);
    for (std::uint32_t thread = 0; thread < 3; ++thread) {
      for (const TimeNs start : {TimeNs{100}, TimeNs{thread == 0 ? 0 : 100}}) {
        model_.rows[AddAt(RowKind::kCalls, 6, start)].thread = thread;
      }
    }
    Add(RowKind::kQuiet, "threads without events", 6, 0);
  }
  std::uint32_t AddAt(RowKind kind, std::uint32_t parent, TimeNs start) {
    const std::uint32_t row = Add(kind, "row", parent, 0);
    LaneEvents events;
    events.Add(start, start + 10, 0, Ink::kCallOther);
    model_.rows[row].lanes = {Lane(std::move(events))};
    return row;
  }
  static constexpr std::uint32_t kStreams = 5, kThreads = 13;
};

TEST_F(QuietRowsTest, ALineStandsForThoseWithoutEventsInSight) {
  RowList list(model_);
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12") << "before it is known";
  EXPECT_TRUE(list.SetSight(0, 50, {}));
  EXPECT_EQ(Shown(list), "0, 1, 2, 5, 6, 7, 8, 13") << "of a thread all rows stay or none";
  EXPECT_EQ(list.Label(kStreams), "2 streams without events in sight");
  EXPECT_EQ(list.Label(kThreads), "2 threads without events in sight");
  EXPECT_EQ(list.StandIn(3), kStreams);
  EXPECT_FALSE(list.SetSight(0, 60, {})) << "the same rows";
  EXPECT_TRUE(list.SetSight(20, 60, {}));
  EXPECT_EQ(Shown(list), "0, 1, 5, 6, 13");
  EXPECT_EQ(list.Label(kThreads), "3 threads without events in sight");
  EXPECT_TRUE(list.SetSight(0, 105, {}));
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12");
  EXPECT_EQ(list.Saved(), SavedRows()) << "nobody chose anything";
}

TEST_F(QuietRowsTest, OneRowIsNotWorthALine) {
  RowList list(model_);
  list.SetSight(0, 50, {3});
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 6, 7, 8, 13");
}

TEST_F(QuietRowsTest, TheLineShowsThemAndFoldsThemAgain) {
  RowList list(model_);
  list.SetSight(0, 50, {});
  list.ToggleCollapsed(kStreams);
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 5, 6, 7, 8, 13");
  EXPECT_EQ(list.Saved().opened, std::vector<std::string>{"r5"});
  list.ToggleCollapsed(kStreams);
  EXPECT_EQ(Shown(list), "0, 1, 2, 5, 6, 7, 8, 13");
  list.ToggleQuiet();
  EXPECT_EQ(Shown(list), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  list.ToggleQuiet();
  EXPECT_EQ(Shown(list), "0, 1, 2, 5, 6, 7, 8, 13");
}

TEST_F(QuietRowsTest, WhatTheUserAsksForIsThere) {
  RowList list(model_);
  list.SetSight(0, 50, {});
  list.TogglePinned(3);
  EXPECT_EQ(Shown(list), "3 |, 0, 1, 2, 4, 6, 7, 8, 13");
  list.SetFilter("row");
  EXPECT_EQ(Shown(list), "3 |, 0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 12") << "no lines in a filter";
  list.SetFilter("");
  list.Reveal(12);
  EXPECT_EQ(list.StandIn(12), 12U);
  list.Reset();
  list.Hide(kThreads);
  EXPECT_EQ(list.StandIn(12), 12U) << "without the line nothing would stand for them";
}

TEST_F(QuietRowsTest, OfAGroupThatIsOpenedItIsKnownThen) {
  RowList list(model_);
  list.ToggleCollapsed(6);
  list.SetSight(0, 50, {});
  EXPECT_EQ(Shown(list), "0, 1, 2, 5, 6");
  list.ToggleCollapsed(6);
  EXPECT_EQ(Shown(list), "0, 1, 2, 5, 6, 7, 8, 13");
}

TEST_F(RowListTest, EmptyStatesSayWhatToDo) {
  RowList list(model_);
  list.SetFilter("nothing like this");
  EXPECT_NE(list.EmptyText().find("nothing like this"), std::string::npos);
  EXPECT_NE(list.EmptyText().find("Clear the filter"), std::string::npos);
  list.SetFilter("");
  list.Hide(0);
  list.Hide(7);
  EXPECT_NE(list.EmptyText().find("Reset rows"), std::string::npos);
  list.Reset();
  list.Hide(5);
  EXPECT_FALSE(list.IsEmptied(4));
  list.Hide(6);
  EXPECT_TRUE(list.IsEmptied(4));
  EXPECT_FALSE(list.IsEmptied(5)) << "not a group";
  const RowModel none;
  EXPECT_EQ(RowList(none).EmptyText(), "The recording has no events.");
}

}  // namespace
}  // namespace traceinject
