// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/widgets/imgui_theme.h"

#include "viewer/ui/widgets/imgui_canvas.h"

namespace traceinject {
namespace {

// ImGui has no such colors; these are of plots, of dropping and of moving by keys, which we do
// ourselves or not at all.
constexpr ImGuiCol kWarningSlot = ImGuiCol_PlotLinesHovered;
constexpr ImGuiCol kBadSlot = ImGuiCol_PlotHistogramHovered;
constexpr ImGuiCol kGoodSlot = ImGuiCol_DragDropTarget;
constexpr ImGuiCol kLinkSlot = ImGuiCol_NavHighlight;

}  // namespace

void ApplyTheme(const Theme& theme) {
  ImGuiStyle& style = ImGui::GetStyle();
  if (theme.name == LightTheme().name) {
    ImGui::StyleColorsLight();
  } else {
    ImGui::StyleColorsDark();
  }
  const auto set = [&style](Rgba color, std::initializer_list<ImGuiCol> slots) {
    for (const ImGuiCol slot : slots) {
      style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(ToImGui(color));
    }
  };
  set(theme.window, {ImGuiCol_WindowBg});
  set(theme.popup, {ImGuiCol_PopupBg});
  set(theme.text, {ImGuiCol_Text, ImGuiCol_CheckMark});
  set(theme.dim_text, {ImGuiCol_TextDisabled});
  set(theme.warning, {kWarningSlot});
  set(theme.bad, {kBadSlot});
  set(theme.good, {kGoodSlot});
  set(theme.link, {kLinkSlot});
  set(theme.heading, {ImGuiCol_TableHeaderBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive,
                      ImGuiCol_Tab, ImGuiCol_TabUnfocused});
  set(theme.ruler, {ImGuiCol_MenuBarBg, ImGuiCol_ScrollbarBg});
  set(theme.control, {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_ScrollbarGrab,
                      ImGuiCol_SliderGrab});
  set(theme.control_hovered,
      {ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ButtonHovered,
       ImGuiCol_ButtonActive, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,
       ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive, ImGuiCol_SliderGrabActive,
       ImGuiCol_TabHovered, ImGuiCol_TabActive, ImGuiCol_TabUnfocusedActive, ImGuiCol_Border,
       ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight});
  set(theme.counter, {ImGuiCol_PlotHistogram, ImGuiCol_PlotLines});
}

ImVec4 DimColor() { return ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled); }
ImVec4 WarningColor() { return ImGui::GetStyleColorVec4(kWarningSlot); }
ImVec4 BadColor() { return ImGui::GetStyleColorVec4(kBadSlot); }
ImVec4 GoodColor() { return ImGui::GetStyleColorVec4(kGoodSlot); }
ImVec4 LinkColor() { return ImGui::GetStyleColorVec4(kLinkSlot); }

}  // namespace traceinject
