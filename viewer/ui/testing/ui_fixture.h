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

#include "analyzer/view/rows/event_text.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/ui/testing/headless_imgui.h"
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
    Hold({.shift = shift});
    io.KeysDown[kEnter] = true;
    Frame();
    io.KeysDown[kEnter] = false;
    Frame();
    Hold({});
    Settle();
  }
  // Where a moment of a lane is on the screen.
  ImVec2 Place(const std::string& label, TimeNs time, std::size_t lane = 0) {
    const Box panel = ui_.controls().Find("timeline").value_or(Box());
    return {panel.left + timeline().Plot().left + timeline().view().X(time),
            panel.top + timeline().LaneTop(RowOf(label), lane) + 4};
  }

  // Modifiers, until others are held.
  void Hold(Modifiers held) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = held.control;
    io.KeyShift = held.shift;
    io.KeyAlt = held.alt;
    io.KeyMods = (held.control ? ImGuiKeyModFlags_Ctrl : 0) |
                 (held.shift ? ImGuiKeyModFlags_Shift : 0) | (held.alt ? ImGuiKeyModFlags_Alt : 0);
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

  static constexpr int kEnter = 257;

  HeadlessImGui imgui_;
  ViewerUi ui_{"run.db"};
};

}  // namespace traceinject
