// SPDX-License-Identifier: Apache-2.0
// What keys do in the window, one command of the table after the other.
#include <functional>
#include <map>

#include "analyzer/model/testing/units.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using KeysTest = UiFixture;

TEST_F(KeysTest, KeysZoomAndMove) {
  Load();
  const TimeNs span = ui_.timeline()->view().span_ns();
  Frame({Key::kW, Key::kW, Key::kW});
  EXPECT_NEAR(static_cast<double>(ui_.timeline()->view().span_ns()),
              static_cast<double>(span) / 1.25 / 1.25 / 1.25, 10);
  const TimeNs start = ui_.timeline()->view().start_ns();
  Frame({Key::kD});
  EXPECT_GT(ui_.timeline()->view().start_ns(), start);
  Frame({Key::kHome});
  EXPECT_EQ(ui_.timeline()->view().span_ns(), span);
}

TEST_F(KeysTest, ClickSelectsFFitsAndEscapeClears) {
  Load();
  MoveTo(Place("GPU 0", 1'025 * kUs));
  ASSERT_TRUE(ui_.timeline()->hover().has_value());
  SetButton(true);
  SetButton(false);
  ASSERT_TRUE(ui_.timeline()->selection().has_value());
  Frame({Key::kF});
  EXPECT_EQ(ui_.timeline()->view().start_ns(), 950 * kUs);
  EXPECT_EQ(ui_.timeline()->view().end_ns(), 1'100 * kUs);
  Frame({Key::kEscape});
  EXPECT_FALSE(ui_.timeline()->selection().has_value());
}

TEST_F(KeysTest, HelpOpensAndCloses) {
  Load();
  const int without = ImGui::GetDrawData()->TotalVtxCount;
  Frame({Key::kQuestion});
  Frame();
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, without + 1'000);
  Frame({Key::kEscape});
  EXPECT_EQ(ImGui::GetDrawData()->TotalVtxCount, without);
}

// What each command does, by its key. A command without an entry fails the test.
TEST_F(KeysTest, EveryCommandDoesItsWorkByEachOfItsKeys) {
  const auto span = [&] { return timeline().view().span_ns(); };
  const auto start = [&] { return timeline().view().start_ns(); };
  const auto select = [&] { Click(Place("stream 7", 1'025 * kUs)); };
  const auto shows = [&](Panel panel) { return workspace().IsShown(panel); };
  using Press = std::function<void()>;
  const std::map<CommandId, std::function<void(const Press&)>> checks = {
      {CommandId::kZoomIn,
       [&](const Press& press) {
         const ImVec2 at = Place("stream 7", 2 * kMs);
         MoveTo(at);
         const TimeNs before = span();
         press();
         EXPECT_LT(span(), before);
         EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1) << "at the pointer";
       }},
      {CommandId::kZoomOut,
       [&](const Press& press) {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         press();
         EXPECT_GT(span(), kMs);
       }},
      {CommandId::kPanLeft,
       [&](const Press& press) {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         press();
         EXPECT_LT(start(), 2 * kMs);
         EXPECT_EQ(span(), kMs);
       }},
      {CommandId::kPanRight,
       [&](const Press& press) {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         press();
         EXPECT_GT(start(), 2 * kMs);
       }},
      {CommandId::kScrollUp,
       [&](const Press& press) {
         ImGui::GetIO().DisplaySize.y = 260;
         Frame();
         workspace().timeline().Turn({.steps = -100});
         const float before = timeline().scroll_px();
         press();
         EXPECT_LT(timeline().scroll_px(), before);
       }},
      {CommandId::kScrollDown,
       [&](const Press& press) {
         ImGui::GetIO().DisplaySize.y = 260;
         Frame();
         press();
         EXPECT_GT(timeline().scroll_px(), 0);
       }},
      {CommandId::kFitSelection,
       [&](const Press& press) {
         select();
         press();
         EXPECT_EQ(start(), 950 * kUs);
         EXPECT_EQ(span(), 150 * kUs);
       }},
      {CommandId::kShowAll,
       [&](const Press& press) {
         const TimeNs all = span();
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         press();
         EXPECT_EQ(span(), all);
       }},
      {CommandId::kPreviousView,
       [&](const Press& press) {
         const TimeNs all = span();
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         press();
         EXPECT_EQ(span(), all);
       }},
      {CommandId::kFind,
       [&](const Press& press) {
         workspace().SetShown(Panel::kDetails, false);
         press();
         Frame();
         EXPECT_TRUE(shows(Panel::kDetails));
         EXPECT_EQ(ui_.panels()->tab(), PanelTab::kFind);
       }},
      {CommandId::kPreviousEvent,
       [&](const Press& press) {
         Click(Place("stream 7", 1'125 * kUs));
         press();
         EXPECT_EQ(timeline().selection()->event, 0U);
       }},
      {CommandId::kNextEvent,
       [&](const Press& press) {
         select();
         press();
         EXPECT_EQ(timeline().selection()->event, 1U);
       }},
      {CommandId::kFollowLinkBack,
       [&](const Press& press) {
         select();
         press();
         EXPECT_EQ(SelectedRow(), "thread 4242: CUDA calls");
       }},
      {CommandId::kFollowLink,
       [&](const Press& press) {
         Click(Place("thread 4242: CUDA calls", 912 * kUs));
         press();
         EXPECT_EQ(SelectedRow(), "stream 7");
       }},
      {CommandId::kMeasureSelection,
       [&](const Press& press) {
         select();
         press();
         ASSERT_TRUE(timeline().measure().has_value());
         EXPECT_EQ(timeline().measure()->end, 1'050 * kUs);
       }},
      {CommandId::kOpenEditor,
       [&](const Press& press) {
         press();
         EXPECT_NE(workspace().notice().find("Select a line of code first"), std::string::npos);
         Frame({Key::kW});
         EXPECT_TRUE(workspace().notice().empty()) << "until the next command";
       }},
      {CommandId::kMark,
       [&](const Press& press) {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         press();
         ASSERT_EQ(marks().size(), 1U);
         EXPECT_NEAR(static_cast<double>(marks()[0].start), 2'020e3, 5e3);
         EXPECT_NE(ui_.panels()->tab(), PanelTab::kMarks);
       }},
      {CommandId::kNewMark,
       [&](const Press& press) {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         press();
         press();
         ASSERT_EQ(marks().size(), 2U);
         EXPECT_EQ(ui_.panels()->tab(), PanelTab::kMarks);
       }},
      {CommandId::kDeleteMark,
       [&](const Press& press) {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         workspace().Do(CommandId::kMark);
         press();
         EXPECT_TRUE(marks().empty());
       }},
      {CommandId::kMarks,
       [&](const Press& press) {
         workspace().SetShown(Panel::kDetails, false);
         press();
         Frame();
         EXPECT_TRUE(shows(Panel::kDetails));
         EXPECT_EQ(ui_.panels()->tab(), PanelTab::kMarks);
       }},
      {CommandId::kCollapse,
       [&](const Press& press) {
         MoveTo(Place("stream 7", kMs));
         press();
         EXPECT_FALSE(timeline().layout().Shows(RowOf("stream 7")));
       }},
      {CommandId::kPinRow,
       [&](const Press& press) {
         MoveTo(Place("stream 7", kMs));
         press();
         EXPECT_TRUE(timeline().layout().IsPinned(RowOf("stream 7")));
       }},
      {CommandId::kHideRow,
       [&](const Press& press) {
         MoveTo(Place("stream 7", kMs));
         press();
         EXPECT_FALSE(timeline().layout().Shows(RowOf("stream 7")));
       }},
      {CommandId::kMoveRowUp,
       [&](const Press& press) {
         MoveTo(Place("stream 7", kMs));
         const float before = timeline().RowTop(RowOf("stream 7"));
         press();
         EXPECT_LT(timeline().RowTop(RowOf("stream 7")), before);
       }},
      {CommandId::kMoveRowDown,
       [&](const Press& press) {
         MoveTo(Place("stream 7", kMs));
         const float before = timeline().RowTop(RowOf("stream 7"));
         press();
         EXPECT_GT(timeline().RowTop(RowOf("stream 7")), before);
       }},
      {CommandId::kSortRanks,
       [&](const Press& press) {
         Load(LoadRunOfTwoRanks(), std::nullopt, std::nullopt);
         const auto first_is_above = [&] {
           return timeline().RowTop(RowOf("rank 0 on node-a")) <
                  timeline().RowTop(RowOf("rank 1 on node-a"));
         };
         EXPECT_TRUE(first_is_above());
         press();
         EXPECT_FALSE(first_is_above()) << "rank 1 came last";
         press();
         EXPECT_TRUE(first_is_above());
       }},
      {CommandId::kFoldRanks,
       [&](const Press& press) {
         press();
         EXPECT_TRUE(timeline().row_list().IsCollapsed(RowOf("rank 0 on node-a")));
         press();
         EXPECT_FALSE(timeline().row_list().IsCollapsed(RowOf("rank 0 on node-a")));
       }},
      {CommandId::kQuietRows,
       [&](const Press& press) {
         workspace().timeline().Show(3'200 * kUs, 3'300 * kUs);
         EXPECT_FALSE(timeline().layout().Shows(RowOf("stream 7")));
         press();
         EXPECT_TRUE(timeline().layout().Shows(RowOf("stream 7")));
       }},
      {CommandId::kResetRows,
       [&](const Press& press) {
         const std::uint32_t row = RowOf("stream 7");
         workspace().timeline().ChangeRows([row](RowList& list) { list.Hide(row); });
         press();
         EXPECT_TRUE(timeline().layout().Shows(row));
       }},
      {CommandId::kTheme,
       [&](const Press& press) {
         const ThemeId before = timeline().look().theme;
         press();
         EXPECT_NE(timeline().look().theme, before);
       }},
      {CommandId::kColors,
       [&](const Press& press) {
         const ColorMode before = timeline().look().colors;
         press();
         EXPECT_NE(timeline().look().colors, before);
       }},
      {CommandId::kDetails,
       [&](const Press& press) {
         const float with = timeline().Plot().height();
         press();
         Frame();
         EXPECT_GT(timeline().Plot().height(), with) << "its room is the timeline's now";
       }},
      {CommandId::kClear,
       [&](const Press& press) {
         select();
         press();
         EXPECT_EQ(SelectedRow(), "");
       }},
      {CommandId::kPalette,
       [&](const Press& press) {
         press();
         EXPECT_TRUE(shows(Panel::kPalette));
       }},
      {CommandId::kOpenRecording,
       [&](const Press& press) {
         press();
         EXPECT_TRUE(shows(Panel::kOpenDialog));
       }},
      {CommandId::kQuit,
       [&](const Press& press) {
         EXPECT_FALSE(workspace().wants_quit());
         press();
         EXPECT_TRUE(workspace().wants_quit());
       }},
      {CommandId::kCopyLink,
       [&](const Press& press) {
         press();
         EXPECT_EQ(workspace().TakeForBrowser(), std::nullopt) << "in a window";
         workspace().SetPlace(ShownIn::kBrowser);
         press();
         EXPECT_EQ(workspace().TakeForBrowser(), CommandId::kCopyLink);
       }},
      {CommandId::kSavePicture,
       [&](const Press& press) {
         workspace().SetPlace(ShownIn::kBrowser);
         press();
         EXPECT_EQ(workspace().TakeForBrowser(), CommandId::kSavePicture);
         EXPECT_EQ(workspace().TakeForBrowser(), std::nullopt) << "once";
       }},
      {CommandId::kHelp,
       [&](const Press& press) {
         press();
         EXPECT_TRUE(shows(Panel::kHelp));
       }},
  };
  for (const Command& command : Commands()) {
    const auto check = checks.find(command.id);
    ASSERT_NE(check, checks.end()) << command.title << " has no test";
    for (const KeyPress& press : {command.key, command.other_key}) {
      if (press.key == Key::kNoKey) continue;
      SCOPED_TRACE(KeyPressName(press));
      ImGui::GetIO().DisplaySize = {1400, 800};
      MoveTo({-1, -1});
      Load();
      check->second([&] { Frame({press}); });
    }
  }
}

TEST_F(KeysTest, ABrowserDoesNothingOnTheMachineWithTheRecording) {
  Load();
  workspace().SetPlace(ShownIn::kBrowser);
  Frame({{Key::kO, {.control = true}}, {Key::kQ, {.control = true}}, Key::kE});
  EXPECT_FALSE(workspace().IsShown(Panel::kOpenDialog));
  EXPECT_FALSE(workspace().wants_quit());
  EXPECT_EQ(workspace().notice(), "");
}

}  // namespace
}  // namespace traceinject
