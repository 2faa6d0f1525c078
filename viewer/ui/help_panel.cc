// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/help_panel.h"

#include <string>

#include "viewer/core/commands.h"
#include "viewer/ui/widgets.h"

namespace traceinject {

void DrawHelp() {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(20, 16));
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs);
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
    const auto line = [](std::string_view left, std::string_view right) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      Put(std::string(left) + "    ");
      ImGui::TableNextColumn();
      PutColoured(DimColour(), right);
    };
    for (const Command& command : Commands()) line(KeysOf(command), command.help);
    line("", "");
    for (const MouseHelp& mouse : MouseGestures()) line(mouse.gesture, mouse.help);
    ImGui::EndTable();
  }
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace traceinject
