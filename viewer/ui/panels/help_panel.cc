// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/help_panel.h"

#include <imgui.h>

#include <algorithm>
#include <string>

#include "viewer/ui/widgets/widgets.h"

namespace traceinject {
namespace {

constexpr float kKeysEms = 12.5F, kHelpEms = 26, kBetweenEms = 2;  // widths of the columns

void Line(const std::string& keys, std::string_view help) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(keys.c_str());
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, DimColor());
  ImGui::PushTextWrapPos(0);  // the end of the column
  ImGui::TextUnformatted(help.data(), help.data() + help.size());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

template <typename Lines>
void HelpColumn(const char* id, float help_px, Lines lines) {
  ImGui::BeginGroup();
  if (ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoHostExtendX)) {
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed,
                            kKeysEms * ImGui::GetFontSize());
    ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthFixed, help_px);
    lines();
    ImGui::EndTable();
  }
  ImGui::EndGroup();
}

void CommandLines(CommandGroup group, ShownIn place) {
  for (const Command& command : Commands()) {
    if (command.group == group && IsOffered(command.id, place)) Line(KeysOf(command), command.help);
  }
  Line("", "");
}

}  // namespace

// Of the text, so that two columns fit beside each other.
float HelpPx(float screen_px, const Sizes& sizes) {
  const float room = screen_px - 2 * sizes.screen_margin - 2 * sizes.box_pad_x;
  return std::min(kHelpEms * sizes.font, room / 2 - (kKeysEms + kBetweenEms) * sizes.font);
}

// Two columns of about the same length: all of it must fit on a small screen.
void DrawHelp(ShownIn place) {
  const Sizes sizes = ScreenSizes();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(sizes.box_pad_x, sizes.box_pad_y));
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs);
  const float help_px = HelpPx(screen.x, sizes);
  HelpColumn("left", help_px, [place] {
    CommandLines(CommandGroup::kFile, place);
    CommandLines(CommandGroup::kView, place);
    CommandLines(CommandGroup::kEvent, place);
    CommandLines(CommandGroup::kWindow, place);
  });
  ImGui::SameLine(0, kBetweenEms * sizes.font);
  HelpColumn("right", help_px, [place] {
    for (const Gesture& gesture : Gestures()) {
      const bool edits = gesture.id == GestureId::kControlClick;
      if (edits && !IsOffered(CommandId::kOpenEditor, place)) continue;
      Line(std::string(gesture.gesture), gesture.help);
    }
    Line("", "");
    CommandLines(CommandGroup::kRows, place);
    CommandLines(CommandGroup::kMarks, place);
  });
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace traceinject
