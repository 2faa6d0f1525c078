// SPDX-License-Identifier: Apache-2.0
// For tests: the window without a renderer. ImGui's input is written by hand, the state is looked
// at.
#pragma once

#include <gtest/gtest.h>
#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/core/event_text.h"
#include "viewer/core/sample_run.h"
#include "viewer/ui/headless_imgui.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

class UiFixture : public testing::Test {
 protected:
  UiFixture() { ImGui::GetIO().KeyMap[ImGuiKey_Enter] = kEnter; }

  void Load(std::optional<TimeNs> from = std::nullopt, std::optional<TimeNs> to = std::nullopt) {
    Load(LoadSampleRun(), from, to);
  }
  void Load(std::unique_ptr<const LoadedRun> loaded, std::optional<TimeNs> from,
            std::optional<TimeNs> to) {
    ui_.SetLoaded(std::move(loaded), from, to);
    Settle();
  }
  void Frame(const std::vector<KeyPress>& keys = {}) {
    ImGui::NewFrame();
    ui_.Frame(keys);
    ImGui::Render();
  }
  // Until nothing changes any more without input.
  void Settle() {
    for (int i = 0; i < 3; ++i) {
      Frame();
      ui_.WaitForPanels();
    }
    Frame();
  }
  void MoveTo(ImVec2 at) {
    ImGui::GetIO().MousePos = at;
    Frame();
    Frame();
  }
  void SetButton(bool down, int button = 0) {
    ImGui::GetIO().MouseDown[button] = down;
    Frame();
  }
  // In the middle of something that can be clicked, a little to the left: in the very middle of a
  // table's row a column may end.
  ImVec2 Middle(const std::string& control) {
    const std::optional<Box> box = ui_.controls().Find(control);
    if (!box) {
      ADD_FAILURE() << "no " << control;
      return {};
    }
    return {0.6F * box->left + 0.4F * box->right, (box->top + box->bottom) / 2};
  }
  void Click(ImVec2 at) {
    MoveTo(at);
    SetButton(true);
    SetButton(false);
    // So that the next one is not the second of a double click.
    for (int i = 0; i < 30; ++i) Frame();
    Settle();
  }
  void Click(const std::string& control) { Click(Middle(control)); }
  void Drag(ImVec2 from, ImVec2 to, int button = 0) {
    MoveTo(from);
    SetButton(true, button);
    MoveTo({(from.x + to.x) / 2, (from.y + to.y) / 2});
    MoveTo(to);
    SetButton(false, button);
    Settle();
  }
  void Type(const std::string& text) {
    ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
    Settle();
  }
  void PressEnter(bool shift = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyShift = shift;
    io.KeyMods = shift ? ImGuiKeyModFlags_Shift : ImGuiKeyModFlags_None;
    io.KeysDown[kEnter] = true;
    Frame();
    io.KeysDown[kEnter] = false;
    Frame();
    io.KeyShift = false;
    io.KeyMods = ImGuiKeyModFlags_None;
    Settle();
  }
  // Where a moment of a row is on the screen.
  ImVec2 Place(const std::string& label, TimeNs time) {
    const Timeline& timeline = *ui_.timeline();
    const RowModel& model = timeline.model();
    for (std::size_t row = 0; row < model.rows.size(); ++row) {
      if (model.rows[row].label != label) continue;
      const Box panel = ui_.controls().Find("timeline").value_or(Box());
      return {panel.left + timeline.Plot().left + timeline.view().X(time),
              panel.top + timeline.LaneTop(row, 0) + 4};
    }
    ADD_FAILURE() << "no row " << label;
    return {};
  }

  static constexpr int kEnter = 257;

  HeadlessImGui imgui_;
  ViewerUi ui_{"run.db"};
};

}  // namespace traceinject
