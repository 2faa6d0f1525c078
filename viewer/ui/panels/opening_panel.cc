// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/opening_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <string_view>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "viewer/ui/widgets/imgui_theme.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {
namespace {

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_AlwaysAutoResize;
constexpr float kProblemEms = 46;

// Paths may hold anything.
std::string Name(const std::string& what, std::size_t width) {
  return ShortenMiddle(Printable(what), width);
}

void PutLines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Put(Printable(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// A box over everything that its contents give its size.
void BeginBox(const char* name, ImGuiWindowFlags flags) {
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin(name, nullptr, flags);
}

// In the corner at the bottom right, in nobody's way.
void BeginNote(const char* name) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float margin = ScreenSizes().screen_margin;
  ImGui::SetNextWindowPos({screen.x - margin, screen.y - margin}, ImGuiCond_Always, {1, 1});
  BeginBox(name, kFixed | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoFocusOnAppearing);
}

void EndBox() {
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

}  // namespace

void DrawNotice(const std::string& notice) {
  BeginNote("notice");
  ImGui::PushTextWrapPos(kProblemEms * ImGui::GetFontSize());
  PutLines(notice);
  ImGui::PopTextWrapPos();
  EndBox();
}

void DrawReadingNote(const LoadProgress& progress, const std::string& what) {
  BeginNote("reading");
  const std::string name = Name(what, 60);
  Put(progress.share < 1 ? fmt::format("Reading {}: {:.0f} %", name, 100 * progress.share)
                         : "Arranging " + name);
  EndBox();
}

bool DrawProblem(const std::string& what, const std::string& message, Controls& controls) {
  const Sizes sizes = ScreenSizes();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(sizes.box_pad_x, sizes.box_pad_y));
  BeginBox("problem", kFixed);
  ImGui::PopStyleVar();
  const float width_px =
      std::min(kProblemEms * ImGui::GetFontSize(), screen.x - 4 * sizes.screen_margin);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width_px);
  ImGui::PushStyleColor(ImGuiCol_Text, WarningColor());
  Put("Cannot open " + Name(what, 80));
  ImGui::PopStyleColor();
  ImGui::Spacing();
  PutLines(message);
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
  Put("Drop another file or folder here to open it, or close this and choose one.");
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  const bool closed = ImGui::Button("Close");
  controls.NoteItem("problem: close");
  EndBox();
  return closed;
}

}  // namespace traceinject
