// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/viewer_ui.h"

#include "viewer/ui/testing/ui_fixture.h"

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
