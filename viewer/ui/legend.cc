// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/legend.h"

#include <fmt/format.h>
#include <imgui.h>

#include "viewer/ui/widgets/imgui_canvas.h"
#include "viewer/ui/widgets/imgui_theme.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {
namespace {

// Always: what is below must not jump when other colors come into view.
constexpr int kLines = 2;

float PatchPx(const Sizes& sizes) { return sizes.font - 4 * sizes.line; }

float Width(const LegendEntry& entry, const Sizes& sizes) {
  const float patch = entry.color == 0 ? 0 : PatchPx(sizes) + sizes.patch_gap;
  return patch + ImGui::CalcTextSize(entry.text.c_str()).x + sizes.font;
}

void DrawEntry(const LegendEntry& entry, ImVec2 at, const Sizes& sizes) {
  if (entry.color != 0) {
    const float side = PatchPx(sizes), top = at.y + 2 * sizes.line;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side},
                                              ToImGui(entry.color));
    at.x += side + sizes.patch_gap;
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::TextColored(DimColor(), "%s", entry.text.c_str());
}

void DrawMore(const std::vector<LegendEntry>& entries, std::size_t shown, ImVec2 at,
              const Sizes& sizes) {
  ImGui::SetCursorScreenPos(at);
  ImGui::TextColored(DimColor(), "+ %zu more", entries.size() - shown);
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  for (std::size_t i = shown; i < entries.size(); ++i) {
    DrawEntry(entries[i], ImGui::GetCursorScreenPos(), sizes);
  }
  ImGui::EndTooltip();
}

}  // namespace

void DrawLegend(const Painted& painted, const Look& look) {
  const std::vector<LegendEntry> entries = LegendOf(painted, look);
  const Sizes sizes = ScreenSizes();
  std::vector<float> widths;
  for (const LegendEntry& entry : entries) widths.push_back(Width(entry, sizes));
  const float room = ImGui::GetContentRegionAvail().x;
  const float line_px = ImGui::GetTextLineHeightWithSpacing();
  const float more_px = ImGui::CalcTextSize("+ 99 more").x;
  const std::vector<LegendPlace> places = PlaceLegend(widths, room, kLines, more_px);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  for (std::size_t i = 0; i < places.size(); ++i) {
    DrawEntry(entries[i],
              {origin.x + places[i].x, origin.y + static_cast<float>(places[i].line) * line_px},
              sizes);
  }
  if (places.size() < entries.size()) {
    DrawMore(entries, places.size(),
             {origin.x + room - more_px, origin.y + static_cast<float>(kLines - 1) * line_px},
             sizes);
  }
  ImGui::SetCursorScreenPos({origin.x, origin.y + static_cast<float>(kLines) * line_px});
}

}  // namespace traceinject
