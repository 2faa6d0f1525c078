// SPDX-License-Identifier: Apache-2.0
// Filter, row menu, legend and theme in a window without a renderer.
#include "viewer/ui/row_controls.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include "viewer/core/testing/sample_run.h"
#include "viewer/ui/legend.h"
#include "viewer/ui/testing/headless_imgui.h"
#include "viewer/ui/viewer_ui.h"
#include "viewer/ui/widgets/imgui_canvas.h"
#include "viewer/ui/widgets/imgui_theme.h"

namespace traceinject {
namespace {

class RowControlsTest : public testing::Test {
 protected:
  RowControlsTest() { timeline_.Resize(1000, 400); }

  // The timeline's top left is at (kLeft, kTop).
  static constexpr float kLeft = 50, kTop = 80;
  void Frame() {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1400, 800});
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    ImGui::SetCursorScreenPos({kLeft, kTop});
    ImGui::InvisibleButton("timeline", {1000, 400},
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    ImGui::SetItemAllowOverlap();
    const ImVec2 mouse = ImGui::GetMousePos();
    timeline_.MovePointer(mouse.x - kLeft, mouse.y - kTop);
    controls_.Draw(timeline_, kLeft, kTop);
    ImGui::End();
    ImGui::Render();
  }
  void Click(float x, float y, int button = 0) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {x, y};
    Frame();
    Frame();
    io.MouseDown[button] = true;
    Frame();
    io.MouseDown[button] = false;
    Frame();
    Frame();
  }
  std::uint32_t RowOf(const std::string& label) const {
    for (std::uint32_t row = 0; row < loaded_->rows.rows.size(); ++row) {
      if (loaded_->rows.rows[row].label == label) return row;
    }
    ADD_FAILURE() << "no row " << label;
    return 0;
  }

  HeadlessImGui imgui_;
  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  Timeline timeline_{loaded_->run, loaded_->rows};
  RowControls controls_;
};

TEST_F(RowControlsTest, WhatIsTypedIntoTheFieldFiltersTheRows) {
  Click(kLeft + 30, kTop + 12);
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
  for (const char c : {'n', 'v', 't', 'x'}) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(c));
    Frame();
  }
  EXPECT_EQ(timeline_.row_list().choices().filter, "nvtx");
  EXPECT_TRUE(timeline_.layout().Shows(RowOf("thread 4242: NVTX")));
  EXPECT_FALSE(timeline_.layout().Shows(RowOf("stream 7")));
}

TEST_F(RowControlsTest, TheMenuIsOfTheRowThatWasClicked) {
  const std::uint32_t stream = RowOf("stream 7");
  const float y = kTop + timeline_.RowTop(stream) + 5;
  Click(kLeft + 200, y, 1);
  ASSERT_TRUE(ImGui::IsPopupOpen("row menu", ImGuiPopupFlags_AnyPopupId));
  // The first item of a row that is no group is to pin it.
  Click(kLeft + 230, y + 14);
  EXPECT_TRUE(timeline_.row_list().IsPinned(stream));
}

TEST_F(RowControlsTest, ARightClickInThePlotOpensNoMenu) {
  Click(kLeft + 600, kTop + 100, 1);
  EXPECT_FALSE(ImGui::IsPopupOpen("row menu", ImGuiPopupFlags_AnyPopupId));
}

TEST_F(RowControlsTest, ThemesSetTheColorsOfTheWindow) {
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    ApplyTheme(*theme);
    const auto color = [](ImGuiCol slot) {
      return ImGui::ColorConvertFloat4ToU32(ImGui::GetStyleColorVec4(slot));
    };
    EXPECT_EQ(color(ImGuiCol_WindowBg), ToImGui(theme->window));
    EXPECT_EQ(color(ImGuiCol_Text), ToImGui(theme->text));
    EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(DimColor()), ToImGui(theme->dim_text));
    EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(WarningColor()), ToImGui(theme->warning));
  }
}

TEST_F(RowControlsTest, TheLegendStaysInNarrowWindows) {
  Painted painted;
  painted.inks.set();
  painted.categories = {true, true, true};
  const std::vector<LegendEntry> legend = LegendOf(painted, {});
  Controls controls;
  for (const float width : {120.0F, 400.0F, 900.0F, 1300.0F}) {
    float bottom = 0, line = 0;
    for (int i = 0; i < 2; ++i) {
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize({width, 300});
      ImGui::Begin("narrow", nullptr, ImGuiWindowFlags_NoDecoration);
      const float top = ImGui::GetCursorPosY();
      line = ImGui::GetTextLineHeightWithSpacing();
      DrawLegend(legend, i == 0 ? painted : Painted(), controls);
      bottom = ImGui::GetCursorPosY() - top;
      EXPECT_EQ(ImGui::GetScrollMaxX(), 0) << "nothing reaches out of the window";
      ImGui::End();
      ImGui::Render();
    }
    EXPECT_LE(bottom, 3 * line + 1) << width;
  }
}

TEST_F(RowControlsTest, KeysAreNoCommandsWhileTyping) {
  ViewerUi ui("run.db");
  ui.SetLook({.theme = ThemeId::kLight});
  ui.SetLoaded(LoadSampleRun(), std::nullopt, std::nullopt);
  const auto frame = [&ui](const std::vector<KeyPress>& keys) {
    ImGui::NewFrame();
    ui.Frame(keys);
    ImGui::Render();
  };
  frame({});
  frame({});
  EXPECT_EQ(ui.timeline()->look().theme, ThemeId::kLight);
  // The field is in the corner of the ruler.
  ImGuiIO& io = ImGui::GetIO();
  const Box timeline = ui.controls().Find("timeline").value();
  io.MousePos = {timeline.left + 40, timeline.top + 12};
  frame({});
  frame({});
  io.MouseDown[0] = true;
  frame({});
  io.MouseDown[0] = false;
  frame({});
  const TimeNs span = ui.timeline()->view().span_ns();
  frame({Key::kW, Key::kH});
  EXPECT_EQ(ui.timeline()->view().span_ns(), span);
}

}  // namespace
}  // namespace traceinject
