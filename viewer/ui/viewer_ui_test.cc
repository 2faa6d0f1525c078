// SPDX-License-Identifier: Apache-2.0
// The window without a renderer: ImGui's input is written by hand, the state is looked at.
#include "viewer/ui/viewer_ui.h"

#include "viewer/ui/ui_fixture.h"

namespace traceinject {
namespace {

constexpr TimeNs kUs = 1'000, kMs = 1'000'000;

using ViewerUiTest = UiFixture;

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

TEST_F(ViewerUiTest, AFrameIsAFewDrawCommands) {
  Load();
  Frame();
  int commands = 0;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) commands += data.CmdLists[i]->CmdBuffer.Size;
  EXPECT_LE(commands, 20) << "labels must not cost a clip rectangle each";
}

}  // namespace
}  // namespace traceinject
