// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/imgui_theme.h"

#include "viewer/ui/imgui_canvas.h"

namespace traceinject {
namespace {

// ImGui has no colour for warnings; this one is of plots, which we draw ourselves.
constexpr ImGuiCol kWarningSlot = ImGuiCol_PlotLinesHovered;

}  // namespace

void ApplyTheme(const Theme& theme) {
  ImGuiStyle& style = ImGui::GetStyle();
  if (theme.name == LightTheme().name) {
    ImGui::StyleColorsLight();
  } else {
    ImGui::StyleColorsDark();
  }
  const auto set = [&style](Rgba colour, std::initializer_list<ImGuiCol> slots) {
    for (const ImGuiCol slot : slots) {
      style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(ToImGui(colour));
    }
  };
  set(theme.window, {ImGuiCol_WindowBg});
  set(theme.popup, {ImGuiCol_PopupBg});
  set(theme.text, {ImGuiCol_Text, ImGuiCol_CheckMark});
  set(theme.dim_text, {ImGuiCol_TextDisabled});
  set(theme.warning, {kWarningSlot});
  set(theme.heading, {ImGuiCol_TableHeaderBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive,
                      ImGuiCol_Tab, ImGuiCol_TabUnfocused});
  set(theme.ruler, {ImGuiCol_MenuBarBg, ImGuiCol_ScrollbarBg});
  set(theme.control, {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_ScrollbarGrab,
                      ImGuiCol_SliderGrab, ImGuiCol_TabActive, ImGuiCol_TabUnfocusedActive});
  set(theme.control_hovered,
      {ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ButtonHovered,
       ImGuiCol_ButtonActive, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,
       ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive, ImGuiCol_SliderGrabActive,
       ImGuiCol_TabHovered, ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong,
       ImGuiCol_TableBorderLight});
  set(theme.counter, {ImGuiCol_PlotHistogram, ImGuiCol_PlotLines});
}

ImVec4 DimColour() { return ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled); }
ImVec4 WarningColour() { return ImGui::GetStyleColorVec4(kWarningSlot); }

}  // namespace traceinject
