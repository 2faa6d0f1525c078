// SPDX-License-Identifier: Apache-2.0
// What the mouse does in the window, one gesture of the table after the other.
#include <functional>
#include <map>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/code_run.h"
#include "viewer/platform/imgui_input.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using MouseTest = UiFixture;

TEST_F(MouseTest, DragMeasures) {
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

TEST_F(MouseTest, ControlWheelZoomsAtThePointer) {
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

// The same for the mouse.
TEST_F(MouseTest, EveryGestureDoesItsWork) {
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
         Hold({.control = true});
         Turn(2);
         EXPECT_LT(span(), before * 7 / 10);
         EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1);
       }},
      {GestureId::kShiftWheel,
       [&] {
         workspace().timeline().Show(2 * kMs, 3 * kMs);
         MoveTo(Place("stream 7", 2'500 * kUs));
         Hold({.shift = true});
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
      {GestureId::kControlClick,
       [&] {
         Load(MakeCodeRun(), std::nullopt, std::nullopt);
         Hold({.control = true});
         Click(Place("thread 100: Python", 5 * kMs));
         Hold({});
         EXPECT_NE(workspace().notice().find("data.py is not on this machine"), std::string::npos)
             << workspace().notice();
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
         Hold({.alt = true});
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
         Hold({.shift = true});
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
         Settle();  // a line tells now that the folder of the sample is gone: it moves the timeline
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
    Hold({});
    MoveTo({-1, -1});
    Load();
    check->second();
  }
}

TEST_F(MouseTest, ARightDragMovesOverTheRowsToo) {
  Load();
  ImGui::GetIO().DisplaySize.y = 260;
  Frame();
  const ImVec2 from = Place("rank 0 on node-a", 2 * kMs);
  Drag({from.x, from.y + 30}, {from.x, from.y}, 1);
  EXPECT_EQ(timeline().scroll_px(), 30);
  ImGui::GetIO().DisplaySize.y = 800;
}

// All of a drag between two frames, as with a slow frame: it begins where the button went down.
TEST_F(MouseTest, ADragWithinOneFrameIsMeasuredFromItsBegin) {
  Load();
  const ImVec2 from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
  InputQueue input;
  input.Move({from.x - 40, from.y - 40});
  const auto play = [&] {
    while (!input.empty()) {
      TellImGui(input.Next());
      Frame();
    }
  };
  play();
  input.Move({from.x, from.y});
  input.Set({0, true});
  for (int tenth = 1; tenth <= 10; ++tenth) {
    const auto share = static_cast<float>(tenth) / 10;
    input.Move({from.x + share * (to.x - from.x), to.y});
  }
  input.Set({0, false});
  play();
  ASSERT_TRUE(timeline().measure().has_value());
  EXPECT_EQ(timeline().measure()->start, kMs);
  EXPECT_EQ(timeline().measure()->end, 1'150 * kUs);
}

TEST_F(MouseTest, ADragThatEndsBelowTheTimelineHasEnded) {
  Load();
  const ImVec2 from = Place("stream 7", kMs);
  Drag(from, {from.x + 100, ImGui::GetIO().DisplaySize.y - 5});
  const auto measured = timeline().measure();
  ASSERT_TRUE(measured.has_value());
  MoveTo({from.x + 300, from.y});
  EXPECT_EQ(timeline().measure(), measured);
}

TEST_F(MouseTest, KernelsThatOverlapAreClickedOneByOne) {
  RankBuilder builder;
  constexpr TimeNs kKernels = 6;
  for (TimeNs i = 0; i < kKernels; ++i) {
    builder.AddKernel(i * kUs, kMs + i * kUs, "kernel" + std::to_string(i));
  }
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run.ranks = {builder.rank()};
  loaded->rows = BuildRows(loaded->run);
  Load(std::move(loaded), std::nullopt, std::nullopt);
  const std::string row = "stream 7";
  ASSERT_EQ(timeline().model().rows[RowOf(row)].lanes.size(), 6U);
  for (std::size_t lane = 0; lane < kKernels; ++lane) {
    Click(Place(row, kMs / 2, lane));
    ASSERT_TRUE(timeline().selection().has_value());
    EXPECT_EQ(EventLabel(timeline().run(), timeline().model(), *timeline().selection()),
              "kernel" + std::to_string(lane));
  }
}

}  // namespace
}  // namespace traceinject
