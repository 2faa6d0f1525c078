// SPDX-License-Identifier: Apache-2.0
// For tests: the window without a renderer. ImGui's input is written by hand, the state is looked
// at.
#pragma once

#include <gtest/gtest.h>
#include <imgui.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/view/rows/event_text.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/ui/testing/headless_imgui.h"
#include "viewer/ui/testing/ui_user.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

class UiFixture : public testing::Test, public UiUser {
 protected:
  UiFixture() { ImGui::GetIO().KeyMap[ImGuiKey_Enter] = kEnter; }

  ShownIn place() const override { return ShownIn::kWindow; }
  const ViewerUi& ui() const override { return ui_; }
  void Open(WriteRun write) override {
    const TemporaryFolder folder;
    write(folder / "run.db");
    LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
    if (!loaded.ok()) throw std::runtime_error(loaded.error());
    ImGui::GetIO().DisplaySize = {1400, 800};
    ImGui::SetWindowFocus(nullptr);  // no field has the keyboard
    Hold({});
    MoveTo({-1, -1});
    Load(std::move(loaded).value(), std::nullopt, std::nullopt);
  }
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
  void SetHeight(int height_px) override {
    ImGui::GetIO().DisplaySize.y = static_cast<float>(height_px);
    Frame();
  }
  void Show(TimeNs start, TimeNs end) override { workspace().timeline().Show(start, end); }
  void Press(const KeyPress& press) override {
    Frame({press});
    Settle();
  }
  void MoveTo(const MousePlace& at) override {
    ImGui::GetIO().MousePos = {at.x, at.y};
    Frame();
    Frame();
  }
  void SetButton(bool down, int button = 0, bool /*twice*/ = false) override {
    ImGui::GetIO().MouseDown[button] = down;
    Frame();
  }
  void Rest() override {
    for (int i = 0; i < 30; ++i) Frame();
    Settle();
  }
  // In the middle of something that can be clicked, a little to the left: in the very middle of a
  // table's row a column may end.
  MousePlace Middle(const std::string& control) {
    const std::optional<Box> box = ui_.controls().Find(control);
    if (!box) {
      ADD_FAILURE() << "no " << control;
      return {};
    }
    return {0.6F * box->left + 0.4F * box->right, (box->top + box->bottom) / 2};
  }
  using UiUser::Click;
  void Click(const std::string& control) { Click(Middle(control)); }
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
  void Hold(Modifiers held) override {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = held.control;
    io.KeyShift = held.shift;
    io.KeyAlt = held.alt;
    io.KeyMods = (held.control ? ImGuiKeyModFlags_Ctrl : 0) |
                 (held.shift ? ImGuiKeyModFlags_Shift : 0) | (held.alt ? ImGuiKeyModFlags_Alt : 0);
  }
  void Turn(float steps) override {
    ImGui::GetIO().MouseWheel = steps;
    Frame();
  }
  std::optional<CommandId> TakeForBrowser() override { return workspace().TakeForBrowser(); }
  std::size_t Vertices() const override {
    return static_cast<std::size_t>(ImGui::GetDrawData()->TotalVtxCount);
  }
  Workspace& workspace() { return *ui_.workspace(); }

  static constexpr int kEnter = 257;

  HeadlessImGui imgui_;
  ViewerUi ui_{"run.db"};
};

}  // namespace traceinject
