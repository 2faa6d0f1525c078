// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/legend.h"

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/ui/imgui_canvas.h"
#include "viewer/ui/imgui_theme.h"

namespace traceinject {
namespace {

constexpr float kNarrowPx = 1'300;  // of the window; in wider ones a line holds most
constexpr float kPatchGapPx = 5;

float PatchPx() { return ImGui::GetFontSize() - 4; }

float Width(const LegendEntry& entry) {
  const float patch = entry.colour == 0 ? 0 : PatchPx() + kPatchGapPx;
  return patch + ImGui::CalcTextSize(entry.text.c_str()).x + ImGui::GetFontSize();
}

void DrawEntry(const LegendEntry& entry, ImVec2 at) {
  if (entry.colour != 0) {
    const float side = PatchPx();
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + 2}, {at.x + side, at.y + side + 2},
                                              ToImGui(entry.colour));
    at.x += side + kPatchGapPx;
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::TextColored(DimColour(), "%s", entry.text.c_str());
}

void DrawMore(const std::vector<LegendEntry>& entries, std::size_t shown, ImVec2 at) {
  ImGui::SetCursorScreenPos(at);
  ImGui::TextColored(DimColour(), "+ %zu more", entries.size() - shown);
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  for (std::size_t i = shown; i < entries.size(); ++i) {
    DrawEntry(entries[i], ImGui::GetCursorScreenPos());
  }
  ImGui::EndTooltip();
}

}  // namespace

void DrawLegend(const Painted& painted, const Look& look) {
  const std::vector<LegendEntry> entries = LegendOf(painted, look);
  std::vector<float> widths;
  for (const LegendEntry& entry : entries) widths.push_back(Width(entry));
  const float room = ImGui::GetContentRegionAvail().x;
  const float line_px = ImGui::GetTextLineHeightWithSpacing();
  const int lines = room < kNarrowPx ? 2 : 1;
  const float more_px = ImGui::CalcTextSize("+ 99 more").x;
  const std::vector<LegendPlace> places = PlaceLegend(widths, room, lines, more_px);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  for (std::size_t i = 0; i < places.size(); ++i) {
    DrawEntry(entries[i],
              {origin.x + places[i].x, origin.y + static_cast<float>(places[i].line) * line_px});
  }
  if (places.size() < entries.size()) {
    DrawMore(entries, places.size(),
             {origin.x + room - more_px, origin.y + static_cast<float>(lines - 1) * line_px});
  }
  ImGui::SetCursorScreenPos({origin.x, origin.y + static_cast<float>(lines) * line_px});
}

}  // namespace traceinject
