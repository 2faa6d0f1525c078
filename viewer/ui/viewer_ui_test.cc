// SPDX-License-Identifier: Apache-2.0
// The window without a renderer: ImGui's input is written by hand, the state is looked at.
#include "viewer/ui/viewer_ui.h"

#include <functional>
#include <map>

#include "viewer/ui/ui_fixture.h"

namespace traceinject {
namespace {

constexpr TimeNs kUs = 1'000, kMs = 1'000'000;

class ViewerUiTest : public UiFixture {
 protected:
  void Hold(bool control, bool shift, bool alt) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = control;
    io.KeyShift = shift;
    io.KeyAlt = alt;
    io.KeyMods = (control ? ImGuiKeyModFlags_Ctrl : 0) | (shift ? ImGuiKeyModFlags_Shift : 0) |
                 (alt ? ImGuiKeyModFlags_Alt : 0);
  }
  void Turn(float steps) {
    ImGui::GetIO().MouseWheel = steps;
    Frame();
  }
  Workspace& workspace() { return *ui_.workspace(); }
  const Timeline& timeline() const { return *ui_.timeline(); }
  const std::vector<Mark>& marks() { return workspace().annotations().marks(); }
  std::string SelectedRow() const {
    return timeline().selection() ? timeline().model().rows[timeline().selection()->row].label : "";
  }
  std::uint32_t RowOf(const std::string& label) const {
    const std::vector<Row>& rows = timeline().model().rows;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (rows[row].label == label) return row;
    }
    ADD_FAILURE() << "no row " << label;
    return 0;
  }
  ImVec2 Origin() const { return {ui_.timeline_origin().first, ui_.timeline_origin().second}; }
};

TEST_F(ViewerUiTest, ShowsProgressBeforeTheRunIsThere) {
  ui_.SetProgress(LoadProgress{.share = 0.5, .files_done = 0, .files = 1, .rows = 1'000});
  Frame({Key::kW});
  EXPECT_EQ(ui_.timeline(), nullptr);
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
}

TEST_F(ViewerUiTest, LimitsAreRelativeToTheFirstGpuOperation) {
  Load(100 * kUs, kMs);
  EXPECT_EQ(ui_.timeline()->view().start_ns(), kMs);
  EXPECT_EQ(ui_.timeline()->view().end_ns(), 1'900 * kUs);
}

TEST_F(ViewerUiTest, KeysZoomAndMove) {
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

TEST_F(ViewerUiTest, ClickSelectsFFitsAndEscapeClears) {
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

TEST_F(ViewerUiTest, DragMeasures) {
  Load();
  const ImVec2 from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
  MoveTo(from);
  SetButton(true);
  MoveTo({(from.x + to.x) / 2, from.y});
  MoveTo(to);
  SetButton(false);
  ASSERT_TRUE(ui_.timeline()->measure().has_value());
  EXPECT_EQ(ui_.timeline()->measure()->start, kMs);
  EXPECT_EQ(ui_.timeline()->measure()->end, 1'150 * kUs);
}

TEST_F(ViewerUiTest, ControlWheelZoomsAtThePointer) {
  Load();
  const ImVec2 at = Place("stream 7", 2 * kMs);
  MoveTo(at);
  const TimeNs span = ui_.timeline()->view().span_ns();
  ImGui::GetIO().KeyCtrl = true;
  ImGui::GetIO().KeyMods = ImGuiKeyModFlags_Ctrl;
  ImGui::GetIO().MouseWheel = 2;
  Frame();
  EXPECT_LT(ui_.timeline()->view().span_ns(), span * 7 / 10);
  EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1);
}

TEST_F(ViewerUiTest, HelpOpensAndCloses) {
  Load();
  const int without = ImGui::GetDrawData()->TotalVtxCount;
  Frame({Key::kQuestion});
  Frame();
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, without + 1'000);
  Frame({Key::kEscape});
  EXPECT_EQ(ImGui::GetDrawData()->TotalVtxCount, without);
}

// What each command does, by its key. A command without an entry fails the test.
TEST_F(ViewerUiTest, EveryCommandDoesItsWorkByEachOfItsKeys) {
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
      {CommandId::kMark,
       [&](const Press& press) {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         press();
         ASSERT_EQ(marks().size(), 1U);
         EXPECT_NEAR(static_cast<double>(marks()[0].start), 2'020e3, 5e3);
         EXPECT_FALSE(shows(Panel::kMarks));
       }},
      {CommandId::kNewMark,
       [&](const Press& press) {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         press();
         press();
         ASSERT_EQ(marks().size(), 2U);
         EXPECT_TRUE(shows(Panel::kMarks));
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
         press();
         EXPECT_TRUE(shows(Panel::kMarks));
         press();
         EXPECT_FALSE(shows(Panel::kMarks));
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
      {CommandId::kColours,
       [&](const Press& press) {
         const ColourMode before = timeline().look().colours;
         press();
         EXPECT_NE(timeline().look().colours, before);
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
      {CommandId::kQuit,
       [&](const Press& press) {
         EXPECT_FALSE(workspace().wants_quit());
         press();
         EXPECT_TRUE(workspace().wants_quit());
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

// The same for the mouse.
TEST_F(ViewerUiTest, EveryGestureDoesItsWork) {
  const auto span = [&] { return timeline().view().span_ns(); };
  const auto start = [&] { return timeline().view().start_ns(); };
  const std::map<GestureId, std::function<void()>> checks = {
      {GestureId::kWheel,
       [&] {
         ImGui::GetIO().DisplaySize.y = 260;
         Frame();
         MoveTo(Place("rank 0 on node-a", 2 * kMs));
         Turn(-1);
         EXPECT_GT(timeline().scroll_px(), 0);
       }},
      {GestureId::kControlWheel,
       [&] {
         const ImVec2 at = Place("stream 7", 2 * kMs);
         MoveTo(at);
         const TimeNs before = span();
         Hold(true, false, false);
         Turn(2);
         EXPECT_LT(span(), before * 7 / 10);
         EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1);
       }},
      {GestureId::kShiftWheel,
       [&] {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         MoveTo(Place("stream 7", 2'500 * kUs));
         Hold(false, true, false);
         Turn(-1);
         EXPECT_EQ(start(), 2'100 * kUs);
       }},
      {GestureId::kHover,
       [&] {
         MoveTo(Place("stream 7", 1'025 * kUs));
         ASSERT_TRUE(timeline().hover().has_value());
         ASSERT_EQ(timeline().hover_links().causes.size(), 1U);
         const int with = ImGui::GetDrawData()->TotalVtxCount;
         MoveTo(Place("stream 7", 4'500 * kUs));
         EXPECT_FALSE(timeline().hover().has_value());
         EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, with) << "tooltip and frame are gone";
       }},
      {GestureId::kClick,
       [&] {
         Click(Place("stream 7", 1'025 * kUs));
         EXPECT_EQ(SelectedRow(), "stream 7");
         Click(Place("stream 7", 4'500 * kUs));
         EXPECT_EQ(SelectedRow(), "");
       }},
      {GestureId::kDoubleClick,
       [&] {
         MoveTo(Place("stream 7", 1'025 * kUs));
         for (const bool down : {true, false, true, false}) SetButton(down);
         EXPECT_EQ(SelectedRow(), "stream 7");
         EXPECT_EQ(start(), 950 * kUs);
       }},
      {GestureId::kDrag,
       [&] {
         ImVec2 from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
         Drag({from.x - 2, from.y}, {to.x + 2, to.y});
         ASSERT_TRUE(timeline().measure().has_value());
         EXPECT_EQ(timeline().measure()->start, kMs) << "snapped";
         EXPECT_EQ(timeline().measure()->end, 1'150 * kUs);
       }},
      {GestureId::kAltDrag,
       [&] {
         Hold(false, false, true);
         ImVec2 from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
         Drag({from.x - 3, from.y}, {to.x + 3, to.y});
         ASSERT_TRUE(timeline().measure().has_value());
         EXPECT_LT(timeline().measure()->start, kMs) << "not snapped";
         EXPECT_GT(timeline().measure()->end, 1'150 * kUs);
       }},
      {GestureId::kEdgeDrag,
       [&] {
         Drag(Place("stream 7", kMs), Place("stream 7", 1'150 * kUs));
         Drag(Place("stream 7", 1'150 * kUs), Place("stream 7", 1'550 * kUs));
         EXPECT_EQ(timeline().measure()->start, kMs);
         EXPECT_EQ(timeline().measure()->end, 1'550 * kUs);
       }},
      {GestureId::kRightDrag,
       [&] {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         const ImVec2 from = Place("stream 7", 2'600 * kUs);
         Drag(from, Place("stream 7", 2'500 * kUs), 1);
         EXPECT_NEAR(static_cast<double>(start()), 2'100e3, 2e3);
         EXPECT_FALSE(timeline().measure().has_value());
       }},
      {GestureId::kShiftDrag,
       [&] {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         Hold(false, true, false);
         const ImVec2 from = Place("stream 7", 2'600 * kUs);
         Drag(from, Place("stream 7", 2'500 * kUs));
         EXPECT_NEAR(static_cast<double>(start()), 2'100e3, 2e3);
         EXPECT_FALSE(timeline().measure().has_value());
       }},
      {GestureId::kMiddleDrag,
       [&] {
         Drag(Place("stream 7", kMs), Place("stream 7", 2 * kMs), 2);
         EXPECT_NEAR(static_cast<double>(start()), 1e6, 5e3);
         EXPECT_NEAR(static_cast<double>(span()), 1e6, 1e4);
       }},
      {GestureId::kMarkClick,
       [&] {
         MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
         workspace().Do(CommandId::kMark);
         workspace().Do(CommandId::kClear);
         ASSERT_FALSE(workspace().selected_mark().has_value());
         Frame();  // a line tells now that the folder of the sample is gone: it moves the timeline
         const Box flag = workspace().MarkFlag(marks()[0]);
         Click(ImVec2{Origin().x + flag.left + 4, Origin().y + flag.top + 4});
         EXPECT_TRUE(workspace().selected_mark().has_value());
       }},
      {GestureId::kFold,
       [&] {
         const std::uint32_t gpu = RowOf("GPU 0");
         const Box triangle = timeline().Triangle(gpu);
         Click(ImVec2{Origin().x + (triangle.left + triangle.right) / 2,
                      Origin().y + triangle.top + 8});
         EXPECT_TRUE(timeline().row_list().IsCollapsed(gpu));
       }},
      {GestureId::kRowMenu,
       [&] {
         MoveTo({Origin().x + timeline().Plot().left - 60,
                 Origin().y + timeline().RowTop(RowOf("stream 7")) + 5});
         SetButton(true, 1);
         SetButton(false, 1);
         EXPECT_TRUE(ImGui::IsPopupOpen("row menu", ImGuiPopupFlags_AnyPopupId));
         Click(Place("stream 7", 2 * kMs));  // beside it, which closes it
       }},
      {GestureId::kOverview,
       [&] {
         workspace().timeline().Show(2 * kMs, 2'100 * kUs);
         const std::optional<Box> strip = ui_.controls().Find("overview");
         ASSERT_TRUE(strip.has_value());
         Click(ImVec2{strip->left + timeline().Plot().left + 5, strip->top + 5});
         EXPECT_LT(timeline().view().start_ns(), kMs);
       }},
  };
  for (const Gesture& gesture : Gestures()) {
    const auto check = checks.find(gesture.id);
    ASSERT_NE(check, checks.end()) << gesture.gesture << " has no test";
    SCOPED_TRACE(std::string(gesture.gesture));
    ImGui::GetIO().DisplaySize = {1400, 800};
    Hold(false, false, false);
    MoveTo({-1, -1});
    Load();
    check->second();
  }
}

TEST_F(ViewerUiTest, ThePaletteFindsAndRunsACommand) {
  Load();
  workspace().timeline().Show(2 * kMs, 3 * kMs);
  Frame({{Key::kP, {.control = true, .shift = true}}});
  Frame();
  Type("run whole");
  Frame({Key::kW});
  EXPECT_EQ(timeline().view().span_ns(), kMs) << "letters are text now, not commands";
  Frame({Key::kEnter});
  EXPECT_FALSE(workspace().IsShown(Panel::kPalette));
  EXPECT_GT(timeline().view().span_ns(), kMs);
}

TEST_F(ViewerUiTest, ThePaletteMovesWithTheArrowsAndForgetsWhatWasTyped) {
  Load();
  workspace().Do(CommandId::kPalette);
  Frame();
  Type("mark");
  Frame({Key::kEscape});
  EXPECT_FALSE(workspace().IsShown(Panel::kPalette));
  workspace().Do(CommandId::kPalette);
  Frame();
  const TimeNs span = timeline().view().span_ns();
  MoveTo({-1, -1});
  Frame({Key::kDown, Key::kDown, Key::kUp, Key::kUp, Key::kUp});
  Frame({Key::kEnter});
  EXPECT_LT(timeline().view().span_ns(), span) << "the first of all is to zoom in";
}

TEST_F(ViewerUiTest, AMarkGetsTheTextThatIsTyped) {
  Load();
  MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
  Frame({{Key::kM, {.shift = true}}});
  Frame();
  Frame();
  const TimeNs span = timeline().view().span_ns();
  Type("warm-up");
  Frame({Key::kW});
  EXPECT_EQ(timeline().view().span_ns(), span);
  ASSERT_EQ(marks().size(), 1U);
  EXPECT_EQ(marks()[0].text, "warm-up");
}

TEST_F(ViewerUiTest, MenusHoldEveryCommand) {
  Load();
  // The first menu, then its first item.
  MoveTo({20, 8});
  SetButton(true);
  SetButton(false);
  Frame();
  const TimeNs span = timeline().view().span_ns();
  Click(ImVec2{40, 8 + 1.6F * ImGui::GetFrameHeight()});
  EXPECT_LT(timeline().view().span_ns(), span) << "zoom in stands first";
}

TEST_F(ViewerUiTest, TheHintGivesWayInANarrowWindow) {
  Load();
  EXPECT_TRUE(ui_.controls().Find("help hint").has_value());
  ImGui::GetIO().DisplaySize.x = 400;
  Frame();
  Frame();
  EXPECT_FALSE(ui_.controls().Find("help hint").has_value());
}

TEST_F(ViewerUiTest, TheTitleIsCutAndNotCutOff) {
  Load();
  for (const float width : {1400.0F, 900.0F, 700.0F, 500.0F, 400.0F}) {
    ImGui::GetIO().DisplaySize.x = width;
    Frame();
    Frame();
    const auto title = ui_.controls().Find("title");
    ASSERT_TRUE(title.has_value());
    EXPECT_LE(title->right, width) << width;
  }
}

TEST_F(ViewerUiTest, EverythingGrowsWithTheFont) {
  Load();
  const Timeline& timeline = *ui_.timeline();
  const float ruler = timeline.Plot().top, labels = timeline.Plot().left;
  const Box splitter = ui_.controls().Find("splitter").value_or(Box());
  ImGui::GetIO().FontGlobalScale = 2;
  ImGui::GetIO().DisplaySize = {2800, 1600};
  Settle();
  EXPECT_NEAR(timeline.Plot().top, 2 * ruler, 2);
  EXPECT_NEAR(timeline.Plot().left, 2 * labels, 2);
  EXPECT_NEAR(ui_.controls().Find("splitter").value_or(Box()).height(), 2 * splitter.height(), 2);
}

TEST_F(ViewerUiTest, AFrameIsAFewDrawCommands) {
  Load();
  Frame();
  int commands = 0;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) commands += data.CmdLists[i]->CmdBuffer.Size;
  EXPECT_LE(commands, 30) << "labels must not cost a clip rectangle each";
}

}  // namespace
}  // namespace traceinject
