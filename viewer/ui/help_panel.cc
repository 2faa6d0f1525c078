// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/help_panel.h"

#include <imgui.h>

#include <string>

#include "viewer/core/commands.h"
#include "viewer/ui/imgui_theme.h"

namespace traceinject {
namespace {

constexpr float kKeysEms = 9, kHelpEms = 26;  // widths of the columns

void Line(const std::string& keys, std::string_view help) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(keys.c_str());
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, DimColour());
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + kHelpEms * ImGui::GetFontSize());
  ImGui::TextUnformatted(help.data(), help.data() + help.size());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

template <typename Lines>
void Column(const char* id, Lines lines) {
  ImGui::BeginGroup();
  if (ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoHostExtendX)) {
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed,
                            kKeysEms * ImGui::GetFontSize());
    ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthFixed,
                            kHelpEms * ImGui::GetFontSize());
    lines();
    ImGui::EndTable();
  }
  ImGui::EndGroup();
}

void CommandLines(CommandGroup group) {
  for (const Command& command : Commands()) {
    if (command.group == group) Line(KeysOf(command), command.help);
  }
  Line("", "");
}

}  // namespace

// Two columns: all of it must fit on a small screen.
void DrawHelp() {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(20, 16));
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs);
  Column("left", [] {
    CommandLines(CommandGroup::kView);
    CommandLines(CommandGroup::kEvent);
  });
  ImGui::SameLine(0, 2 * ImGui::GetFontSize());
  Column("right", [] {
    for (const Gesture& gesture : Gestures()) Line(std::string(gesture.gesture), gesture.help);
    Line("", "");
    CommandLines(CommandGroup::kRows);
    CommandLines(CommandGroup::kMarks);
    CommandLines(CommandGroup::kWindow);
  });
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace traceinject
