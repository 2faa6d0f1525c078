// SPDX-License-Identifier: Apache-2.0
// What the mouse does in the window.
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "viewer/platform/imgui_input.h"
#include "viewer/ui/testing/command_effects.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using MouseTest = UiFixture;

TEST_F(MouseTest, DragMeasures) {
  Load();
  const MousePlace from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
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
  const MousePlace at = Place("stream 7", 2 * kMs);
  MoveTo(at);
  const TimeNs span = ui_.timeline()->view().span_ns();
  ImGui::GetIO().KeyCtrl = true;
  ImGui::GetIO().KeyMods = ImGuiKeyModFlags_Ctrl;
  ImGui::GetIO().MouseWheel = 2;
  Frame();
  EXPECT_LT(ui_.timeline()->view().span_ns(), span * 7 / 10);
  EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1);
}

TEST_F(MouseTest, EveryGestureDoesItsWork) { ExpectEveryGestureWorks(*this); }

TEST_F(MouseTest, ARightDragMovesOverTheRowsToo) {
  Load();
  ImGui::GetIO().DisplaySize.y = 260;
  Frame();
  const MousePlace from = Place("rank 0 on node-a", 2 * kMs);
  Drag({from.x, from.y + 30}, {from.x, from.y}, 1);
  EXPECT_EQ(timeline().scroll_px(), 30);
  ImGui::GetIO().DisplaySize.y = 800;
}

// All of a drag between two frames, as with a slow frame: it begins where the button went down.
TEST_F(MouseTest, ADragWithinOneFrameIsMeasuredFromItsBegin) {
  Load();
  const MousePlace from = Place("stream 7", kMs), to = Place("stream 7", 1'150 * kUs);
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
  const MousePlace from = Place("stream 7", kMs);
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
